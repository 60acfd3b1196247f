import { render } from "preact";
import { loadStudies } from "./load-studies.ts";
import "./page.css";
import { StudiesPage } from "./studies-page.tsx";

const page = document.getElementById("page");
if (page !== null) {
  render(<StudiesPage studies="loading" />, page);
  loadStudies(new URL("results/", document.baseURI)).then(
    (studies) => render(<StudiesPage studies={studies} />, page),
    (reason: unknown) => render(<StudiesPage studies={{ problem: String(reason) }} />, page),
  );
}
