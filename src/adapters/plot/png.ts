/** SVG → PNG, with the shipped typeface only: the machine's fonts neither help nor change the picture. */

import { createRequire } from "node:module";
import { Resvg } from "@resvg/resvg-js";
import { FONT_FAMILY } from "./svg.ts";

const require = createRequire(import.meta.url);

const fontFiles = ["400Regular/Lato_400Regular.ttf", "700Bold/Lato_700Bold.ttf"];

/** Twice the SVG's size by default, for dense screens and print. */
export async function figureToPng(svg: string, { scale = 2 }: { readonly scale?: number } = {}): Promise<Uint8Array> {
  const image = new Resvg(svg, {
    fitTo: { mode: "zoom", value: scale },
    background: "white",
    font: {
      loadSystemFonts: false,
      fontFiles: fontFiles.map((file) => require.resolve(`@expo-google-fonts/lato/${file}`)),
      defaultFontFamily: FONT_FAMILY,
    },
  });
  return image.render().asPng();
}
