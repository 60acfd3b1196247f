/** `npm run docs:write`: writes the pages that are made of what the program says about itself. */
import { writeFileSync } from "node:fs";
import { askProgram, CONFIGURATION_PAGE } from "./docs/ask-program.ts";
import { configurationPage } from "./docs/configuration.ts";
import { PACKAGE_PAGE, packagePage, readPublicEntries } from "./docs/public-entries.ts";

writeFileSync(CONFIGURATION_PAGE, configurationPage(askProgram()));
writeFileSync(PACKAGE_PAGE, packagePage(readPublicEntries(process.cwd()).entries));
console.log(`wrote ${CONFIGURATION_PAGE} and ${PACKAGE_PAGE}`);
