import { Command } from 'commander';
import { RunError } from '../../model/error.js';
import { type Cli, print } from '../io.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function completionCommand(cli: Cli): Command {
  return new Command('completion')
    .description('print what makes a shell complete the commands and flags of rowferry')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText(
      'after',
      `
Examples:
  $ rowferry completion bash >> ~/.bashrc
  $ rowferry completion zsh >> ~/.zshrc
  $ rowferry completion fish > ~/.config/fish/completions/rowferry.fish`,
    )
    .action((shell: string, _: object, self: Command) => {
      const known = SHELLS.find((one) => one === shell);
      if (!known) throw new RunError('usage', `There is no completion for "${shell}". There is: ${SHELLS.join(', ')}.`);
      const words = wordsOf(self.parent ?? self);
      print(cli, known === 'fish' ? fish(words) : bash(words, known));
    });
}

/** What can follow each command, by the words that name it: `` (rowferry itself), `import`, `runs`, `runs show`, … */
type Words = ReadonlyMap<string, { readonly commands: readonly string[]; readonly flags: readonly string[] }>;

function wordsOf(program: Command): Words {
  const words = new Map<string, { commands: string[]; flags: string[] }>();
  const visit = (command: Command, name: string): void => {
    const flags = command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
    words.set(name, { commands: command.commands.map((one) => one.name()), flags: [...flags, '--help'] });
    for (const child of command.commands) visit(child, `${name} ${child.name()}`.trim());
  };
  visit(program, '');
  return words;
}

/** Files are completed by the shell where nothing else fits; a job by the names in `jobs/`, too. */
function bash(words: Words, shell: 'bash' | 'zsh'): string {
  const cases = [...words].map(
    ([name, { commands, flags }]) => `    '${name}') words='${[...commands, ...flags].join(' ')}' ;;`,
  );
  const groups = [...words].filter(([, { commands }]) => commands.length > 0).map(([name]) => `'${name}'`);
  const begin = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return `${begin}_rowferry() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" name="" words="" at=1
  while [ "$at" -lt "$COMP_CWORD" ]; do
    case "$name" in ${groups.join('|')}) name="\${name:+$name }\${COMP_WORDS[at]}" ;; *) break ;; esac
    at=$((at + 1))
  done
  case "$name" in
${cases.join('\n')}
  esac
  if [ "$before" = --job ]; then
    words=$(ls jobs 2>/dev/null | sed -n 's/\\.ya\\{0,1\\}ml$//p')
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -o bashdefault -F _rowferry rowferry`;
}

function fish(words: Words): string {
  const lines: string[] = [];
  for (const [name, { commands, flags }] of words) {
    const above = name.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    const seen = name === '' ? '__fish_use_subcommand' : above.join('; and ');
    for (const command of commands) lines.push(`complete -c rowferry -f -n '${seen}' -a ${command}`);
    for (const flag of flags) lines.push(`complete -c rowferry -n '${seen}' -l ${flag.slice(2)}`);
  }
  return lines.join('\n');
}
