import { answerHook } from '../../lifecycle/index.js'
import { count, flag, optional, required, text } from '../../operations/index.js'
import { command } from '../command.js'

/** With words and without `--help` or `--json`, `src/hook-main.ts` answers: it starts sooner and never fails. */
export const hook = command({
  name: 'hook',
  summary: "Answer a program's hook",
  description:
    'Programs run this; docs/HOOKS.md says when. It reads the message of the hook on standard input and prints the answer that Claude Code, Codex and Gemini CLI read. SessionStart is answered with the output of skein prime; other events get no answer. Whatever goes wrong, it ends within seconds, with 0.',
  examples: [['skein hook SessionStart --tool claude', 'As a hook of Claude Code runs it']],
  args: { event: required(text('event'), "The hook's name: SessionStart, PreCompact, Stop") },
  options: {
    tool: optional(text('tool'), 'The program that the hook belongs to'),
    run: optional(text('file'), "The file of an agent's run, for agents that Skein started"),
    pid: optional(count, 'The process of the program'),
    text: flag('Print the answer itself, for plugins'),
  },
  async run({ event, tool, run, pid, text: isText }, { out, daemon, cwd, input, home, context, detach }) {
    const question = {
      event,
      isText,
      ...(tool === undefined ? {} : { tool }),
      ...(run === undefined ? {} : { run }),
      ...(pid === undefined ? {} : { pid }),
    }
    const answer = await answerHook(question, { context, env: daemon.env, cwd, input, open: home, detach })
    out.result({ event, answer }, () => answer)
  },
})
