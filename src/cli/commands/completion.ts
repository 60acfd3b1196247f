/**
 * `coxswain completion bash|zsh|fish`: a script for the shell's start-up file, and the hidden command that it asks.
 * The script holds no words of ours, so it does not go stale when commands change.
 */

import { Argument, Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { printJson, printLine, type Shell } from "../shell.ts";
import { examples, withJson } from "./common.ts";

const SCRIPTS = {
  bash: `_coxswain() {
  local IFS=$'\\n'
  COMPREPLY=($(coxswain __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then compopt -o default; fi
}
complete -F _coxswain coxswain`,
  zsh: `#compdef coxswain
_coxswain() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(coxswain __complete -- "\${words[@]:1:$((CURRENT-1))}" 2>/dev/null)
  if (( \${#found} )); then _describe coxswain found; else _files; fi
}
compdef _coxswain coxswain`,
  fish: `complete -c coxswain -f -a '(coxswain __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
} as const;

type ShellName = keyof typeof SCRIPTS;

export const completionCommand = (shell: Shell) =>
  withJson(new Command("completion").description("print a completion script for a shell"))
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SCRIPTS) as ShellName[]))
    .addHelpText(
      "after",
      examples(
        ['eval "$(coxswain completion bash)"', "in ~/.bashrc"],
        ['eval "$(coxswain completion zsh)"', "in ~/.zshrc, after compinit"],
        ["coxswain completion fish | source", "in ~/.config/fish/config.fish"],
      ),
    )
    .action((name, options) => {
      const script = SCRIPTS[name];
      if (options.json) printJson(shell, { shell: name, script });
      else printLine(shell, script);
    });

/** Words for an argument that only the running program knows, by the command's path: "reproduce" → study ids. */
export type ArgumentWords = Readonly<Record<string, () => Promise<readonly string[]>>>;

export const completeCommand = (shell: Shell, words: ArgumentWords) =>
  new Command("__complete")
    .argument("[words...]", "the line so far; the last word is the one to complete")
    .action(async (line, _options, self) => {
      const root = self.parent;
      if (!root) return;
      for (const { word, about } of await candidates(root, line, words)) printLine(shell, `${word}\t${about}`);
    });

interface Candidate {
  readonly word: string;
  readonly about: string;
}

export async function candidates(
  root: CommandUnknownOpts,
  line: readonly string[],
  words: ArgumentWords,
): Promise<readonly Candidate[]> {
  const typed = line.slice(0, -1);
  const partial = line.at(-1) ?? "";
  let command = root;
  const path: string[] = [];
  let given = 0;
  for (let i = 0; i < typed.length; i++) {
    const word = typed[i] as string;
    const option = optionOf(command, word);
    if (option) {
      const takesValue = (option.required || option.optional) && !word.includes("=");
      if (takesValue && i === typed.length - 1) return choicesOf(option.argChoices, partial);
      if (takesValue) i += 1;
      continue;
    }
    const child = given === 0 ? command.commands.find((c) => c.name() === word) : undefined;
    if (child) {
      command = child;
      path.push(word);
    } else given += 1;
  }
  if (partial.startsWith("-")) {
    return command.options
      .filter((option) => !option.hidden && option.long?.startsWith(partial))
      .map((option) => ({ word: option.long as string, about: option.description }));
  }
  const argument = command.registeredArguments[given];
  const known = given === 0 && argument ? ((await words[path.join(" ")]?.()) ?? []) : [];
  const children = given === 0 ? command.commands.filter((c) => !c.name().startsWith("__")) : [];
  return [
    ...children.map((c) => ({ word: c.name(), about: c.description() })),
    ...choicesOf(argument?.argChoices ?? known, ""),
  ].filter((candidate) => candidate.word.startsWith(partial));
}

function optionOf(command: CommandUnknownOpts, word: string) {
  if (!word.startsWith("-")) return undefined;
  const name = word.split("=")[0];
  return command.options.find((option) => option.long === name || option.short === name);
}

function choicesOf(choices: readonly string[] | undefined, partial: string): readonly Candidate[] {
  return (choices ?? []).filter((word) => word.startsWith(partial)).map((word) => ({ word, about: "" }));
}
