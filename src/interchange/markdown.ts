import { turnParts } from '../tools/index.js'
import type { ExportDocument, ExportedCall, ExportedSession, ExportedTurn } from './document.js'
import { shortLine, visibleLine, visibleText } from './visible-text.js'
import {
  argumentsText,
  callGist,
  callNotes,
  costText,
  documentTitle,
  missingLog,
  momentOf,
  redactionsLine,
  sessionFacts,
  sessionTitle,
  turnHeading,
  turnNotes,
  turnsOf,
} from './wording.js'

/**
 * One Markdown file. What people, agents and tools wrote stands in fences, word for word: outside of them a viewer would make
 * headings, links, pictures from the network and, at worst, HTML of it.
 */
export function markdownOf(document: ExportDocument): string {
  const left = redactionsLine(document.redactions)
  const blocks = [
    `# ${inline(documentTitle(document))}`,
    ...document.sessions.flatMap((one) => sessionBlocks(one, document.sessions.length > 1)),
    '---',
    ...(document.cost && document.sessions.length > 1 ? [`Cost of all: ${inline(costText(document.cost))}`] : []),
    `Exported ${momentOf(document.exported_at)}.${left === '' ? '' : ` Left out for privacy: ${inline(left)}.`}`,
  ]
  return `${blocks.join('\n\n')}\n`
}

function sessionBlocks(one: ExportedSession, isOneOfMany: boolean): string[] {
  const missing = missingLog(one)
  return [
    ...(isOneOfMany ? [`## ${inline(sessionTitle(one))}`] : []),
    sessionFacts(one)
      .map(([name, value]) => `- ${name}: ${inline(value)}`)
      .join('\n'),
    ...(missing ? [`**${missing}**`] : []),
    ...turnsOf(one).flatMap((turn) => turnBlocks(turn, isOneOfMany ? 3 : 2)),
  ]
}

function turnBlocks(turn: ExportedTurn, level: number): string[] {
  const notes = turnNotes(turn)
  return [
    `${'#'.repeat(Math.min(level, 6))} ${inline(turnHeading(turn))}`,
    ...(notes.length > 0 ? [notes.map(inline).join(' · ')] : []),
    ...(turn.prompt === '' ? [] : ['Prompt:', fenced(turn.prompt)]),
    ...turnParts(turn).flatMap((part) =>
      part.kind === 'call' ? callBlocks(part.call, level + 1) : ['Said:', fenced(part.text)],
    ),
    ...(turn.reply === undefined ? [] : ['Reply:', fenced(turn.reply)]),
    ...(turn.error === undefined ? [] : ['Error:', fenced(turn.error)]),
  ]
}

function callBlocks(call: ExportedCall, level: number): string[] {
  const asked = argumentsText(call)
  const about = [inline(shortLine(callGist(call), 80)), ...callNotes(call)].filter((part) => part !== '').join(' · ')
  return [
    `**${inline(call.name)}**${about === '' ? '' : ` ${about}`}`,
    ...(asked ? [fenced(asked, 'json')] : []),
    ...(call.result ? [fenced(call.result)] : []),
    ...(call.sub_agent ?? []).flatMap((turn) => turnBlocks(turn, level)),
  ]
}

/** A fence that is longer than any within, so that the text cannot end it. */
export function fenced(text: string, language = 'text'): string {
  const shown = visibleText(text)
  const longest = shown.match(/`+/g)?.reduce((most, run) => Math.max(most, run.length), 2) ?? 2
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${shown}\n${fence}`
}

/** Every sign that Markdown knows is escaped, at the price of a backslash in the source where none was needed. */
export const inline = (text: string): string =>
  visibleLine(text).replace(/[\\`*_{}[\]<>()#+!|&~$@]|:(?=\/\/)|^[-=]/g, '\\$&')
