import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import { App } from "./app.tsx";
import { followAddress } from "./router.ts";
import { goLive } from "./state.ts";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/overview.css";
import "./styles/views.css";
import "./styles/lists.css";
import "./styles/map.css";
import "./styles/services.css";
import "./styles/fleet.css";
import "./styles/narrow.css";
import { followTheme } from "./theme.ts";

const page = document.getElementById("page");
if (page !== null) {
  followTheme();
  followAddress();
  render(<App />, page);
  goLive();
}
