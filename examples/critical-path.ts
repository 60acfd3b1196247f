// What was a request waiting for? Three requests of a shop, as spans: the cart and the recommendations are asked for at
// the same time, so the slower of the two is on the critical path, and the mail that is sent afterwards never is.
//
// prints: shop/GET /: 3 requests
// prints: 67 % shop/GET / 20 ms, cart/list 70 ms
// prints: 33 % shop/GET / 20 ms, recommend/rank 180 ms
// prints: as the paper prints it: shop, cart
import type { Span } from "coxswain/telemetry";
import { assembleTraces, CriticalPathFinder, PathSignatures, printedCriticalPath } from "coxswain/tracing";

function request(number: number, took: { readonly cart: number; readonly recommend: number }): Span[] {
  const traceId = number.toString(16).padStart(32, "0");
  const answered = 10 + Math.max(took.cart, took.recommend);
  const span = (
    id: number,
    [service, operation]: readonly [string, string],
    [from, to]: readonly [number, number],
  ): Span => ({
    traceId,
    spanId: id.toString(16).padStart(16, "0"),
    ...(id === 1 ? {} : { parentId: "0000000000000001" }),
    service,
    instance: `${service}-0`,
    operation,
    kind: "server",
    startUs: from * 1_000,
    endUs: to * 1_000,
    status: "unset",
  });
  return [
    span(1, ["shop", "GET /"], [0, answered + 10]),
    span(2, ["cart", "list"], [10, 10 + took.cart]),
    span(3, ["recommend", "rank"], [10, 10 + took.recommend]),
    span(4, ["mail", "send"], [answered, answered + 500]),
  ];
}

// In whatever order spans come, whole traces go out.
const spans = [
  ...request(1, { cart: 60, recommend: 30 }),
  ...request(2, { cart: 40, recommend: 180 }),
  ...request(3, { cart: 80, recommend: 30 }),
].reverse();
const { block } = assembleTraces(spans);

const finder = new CriticalPathFinder();
const signatures = new PathSignatures();
for (let trace = 0; trace < block.size; trace++) signatures.observe(block, trace, finder.find(block, trace));

for (const { name, requests, paths } of signatures.requestTypes()) {
  console.log(`${name}: ${requests} requests`);
  for (const { steps, exclusiveUs, count } of paths) {
    const path = steps.map((step, k) => `${step.service}/${step.operation} ${(exclusiveUs[k] ?? 0) / 1_000} ms`);
    console.log(`${Math.round((100 * count) / requests)} % ${path.join(", ")}`);
  }
}
const printed = printedCriticalPath(block).map((span) => block.names.text(block.spans.service[span] ?? 0));
console.log(`as the paper prints it: ${printed.join(", ")}`);
