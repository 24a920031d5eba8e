import type { RestoredSession } from '../home/index.js'
import { redactValue } from '../privacy/index.js'
import type { Fact } from '../tools/index.js'
import { fenced, inline } from './markdown.js'
import { momentOf } from './wording.js'

/**
 * What the archive has of a session, as one Markdown file: everything in the order in which it was said. It is for people; no tool can
 * go on from it. Secrets are looked for once more, because rules grow.
 */
export function restoredText({ session, logs, problems }: RestoredSession): string {
  const blocks = [
    `# ${inline(session.title || `Session ${session.id}`)}`,
    "From Skein's archive: filtered for privacy, long results cut. This is not the tool's own log.",
    ...problems.map((problem) => `**Not complete:** ${inline(problem)}`),
    ...logs.flatMap(({ tool, path, agent, modified_at, facts }) => [
      `## ${agent === undefined ? 'The session' : `Sub-agent ${inline(agent)}`}`,
      `- Tool: ${inline(tool)}\n- Log: ${inline(path)}\n- Last written: ${momentOf(modified_at)}`,
      ...(redactValue(facts, {}) as Fact[]).flatMap(blocksOf),
    ]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function blocksOf(fact: Fact): string[] {
  switch (fact.kind) {
    case 'turn':
      return [
        `### ${fact.agent ? `Sub-agent ${inline(fact.agent)}, turn` : 'Turn'} ${fact.turn}${fact.at ? `, ${momentOf(fact.at)}` : ''}`,
        ...words(`Prompt${fact.by === 'person' ? '' : ` (by ${fact.by})`}:`, fact.prompt, fact.prompt_chars),
      ]
    case 'said':
      return words('Reply:', fact.text)
    case 'tool-call': {
      const isEmpty = Object.keys(fact.arguments).length === 0
      const names = fact.argument_names?.length ? `, not kept: ${fact.argument_names.map(inline).join(', ')}` : ''
      const asked = isEmpty ? [] : [fenced(JSON.stringify(fact.arguments, undefined, 2), 'json')]
      return [`Call \`${fact.call.replaceAll('`', '')}\` of **${inline(fact.name)}**${names}`, ...asked]
    }
    case 'tool-result': {
      const outcome = fact.success === false ? ' (failed)' : ''
      return words(`Result of \`${fact.call.replaceAll('`', '')}\`${outcome}:`, fact.result, fact.result_chars)
    }
    case 'mark':
      return fact.mark === 'completed' || fact.mark === 'timed'
        ? []
        : [`_${fact.mark}_${fact.detail ? `: ${inline(fact.detail)}` : ''}`]
    default:
      return [] // names, numbers: `--json` has them
  }
}

function words(label: string, text: string, length?: number): string[] {
  if (text !== '') return [label, fenced(text)]
  return length ? [`${label} not kept (${length} characters)`] : []
}
