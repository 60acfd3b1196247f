export type { Axis, Bar, BarFigure, Figure, Line, LineFigure, ReferenceMark } from "./figure.ts";
