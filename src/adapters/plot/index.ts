export type { Figure, LineFigure } from "./figure.ts";
export { figureToPng } from "./png.ts";
export { figureToSvg } from "./svg.ts";
