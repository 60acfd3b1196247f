/**
 * A native dialog that follows a state. Owns: opening, closing, and which `close` event counts.
 *
 * The browser tells of a closing in a task of its own, after the focus has gone back. Whoever opens the dialog again in
 * between must not have it closed by that late word: it opens before any other task runs (a layout effect), and a `close`
 * that finds it open is about an earlier one.
 */
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Modal {
  readonly ref: RefObject<HTMLDialogElement | null>;
  readonly onClose: () => void;
}

export function useModal(isOpen: boolean, close: () => void): Modal {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (dialog === null || dialog.open === isOpen) return;
    if (isOpen) dialog.showModal();
    else dialog.close();
  }, [isOpen]);
  return {
    ref,
    onClose: () => {
      if (ref.current?.open !== true) close();
    },
  };
}
