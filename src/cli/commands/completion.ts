import { choice, required } from '../../operations/index.js'
import { command } from '../command.js'
import { SHELL_SCRIPTS, SHELLS } from '../shell-scripts.js'

export const completion = command({
  name: 'completion',
  summary: 'Print a completion script for your shell',
  description:
    'Completes commands, options and values: your agents, groups, sessions and profiles.\nKeep it: add the first line that fits to the start-up file of your shell.\n  bash   source <(skein completion bash)\n  zsh    source <(skein completion zsh)\n  fish   skein completion fish | source',
  examples: [['skein completion bash', 'The script for bash']],
  args: { shell: required(choice('shell', SHELLS), 'The shell you use') },
  options: {},
  async run({ shell }, { out }) {
    const script = SHELL_SCRIPTS[shell]
    out.result({ shell, script }, () => script.trimEnd())
  },
})
