/** `npm run docs:write`: writes the pages that are made of what the program says about itself. */
import { writeFileSync } from "node:fs";
import { askProgram, CONFIGURATION_PAGE } from "./docs/ask-program.ts";
import { configurationPage } from "./docs/configuration.ts";

writeFileSync(CONFIGURATION_PAGE, configurationPage(askProgram()));
console.log(`wrote ${CONFIGURATION_PAGE}`);
