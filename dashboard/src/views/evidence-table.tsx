/** Judged gates as a table: what was asked, what was found, whether it holds. */
import type { ComponentChild } from "preact";
import type { Judged } from "../../../src/contract/index.ts";
import { plain } from "../words/format.ts";

export function EvidenceTable({ judged, label }: { judged: readonly Judged[]; label: string }): ComponentChild {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Holds</th>
            <th scope="col">Gate</th>
            <th scope="col" class="number">
              Found
            </th>
            <th scope="col" class="number">
              Asked
            </th>
            <th scope="col">About</th>
          </tr>
        </thead>
        <tbody>
          {judged.map((gate) => (
            <tr key={`${gate.gate} ${gate.about}`}>
              <td>
                <span class={gate.holds ? "verdict yes" : "verdict no"}>{gate.holds ? "✓ yes" : "✗ no"}</span>
              </td>
              <th scope="row">{gate.gate}</th>
              <td class="number">{plain(gate.found)}</td>
              <td class="number">{plain(gate.asked)}</td>
              <td>{gate.about}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
