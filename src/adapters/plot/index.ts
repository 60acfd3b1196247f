export type { Axis, Bar, BarFigure, Figure, Line, LineFigure, ReferenceMark } from "./figure.ts";
export { figureToPng } from "./png.ts";
export { figureToSvg } from "./svg.ts";
