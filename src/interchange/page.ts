import { createHash } from 'node:crypto'
import { turnParts } from '../tools/index.js'
import type { ExportDocument, ExportedCall, ExportedSession, ExportedTurn } from './document.js'
import { htmlText as text } from './html-text.js'
import { PAGE_SCRIPT } from './page-script.js'
import { PAGE_STYLE } from './page-style.js'
import { replyHtml } from './reply-html.js'
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
 * One HTML file that needs nothing else. Two rules keep hostile text inert: text from data is escaped and between tags, never in a script
 * and in no attribute but the address of a link in a reply (reply-words.ts); and the page may run and load nothing but the style and the
 * script of this very file.
 */
export function pageOf(document: ExportDocument): string {
  const title = text(visibleLine(documentTitle(document)))
  const left = redactionsLine(document.redactions)
  const all =
    document.cost && document.sessions.length > 1 ? `Cost of all: ${text(visibleLine(costText(document.cost)))}. ` : ''
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(PAGE_STYLE)}'`,
    `script-src '${hashOf(PAGE_SCRIPT)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<output id="count" for="find" hidden></output>
<input id="find" type="search" placeholder="Search ( / )" aria-label="Search" autocomplete="off" spellcheck="false" hidden>
<button id="fold" type="button" aria-pressed="false" hidden>Unfold</button>
<button id="theme" type="button" hidden>Light / dark</button>
</header>
<div class="layout">
<nav aria-label="Turns">
${document.sessions.map((one, at) => turnList(one, at, document.sessions.length > 1)).join('\n')}
</nav>
<main>
${document.sessions.map((one, at) => sessionPart(one, at, document.sessions.length > 1)).join('\n')}
<footer>${all}Exported ${momentOf(document.exported_at)}.${left === '' ? '' : ` Left out for privacy: ${text(left)}.`} Keys: j and k go from turn to turn, / searches.</footer>
</main>
</div>
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`
}

function turnList(one: ExportedSession, at: number, isOneOfMany: boolean): string {
  const items = turnsOf(one).map((turn, place) => {
    const gist = text(shortLine(turn.prompt, 60))
    return `<li><a href="#${placeName(at, place)}"><span>${turn.number}</span><span>${gist}</span></a></li>`
  })
  const heading = isOneOfMany ? `<p>${text(shortLine(sessionTitle(one), 60))}</p>\n` : ''
  return `${heading}<ol>\n${items.join('\n')}\n</ol>`
}

function sessionPart(one: ExportedSession, at: number, isOneOfMany: boolean): string {
  const missing = missingLog(one)
  const facts = sessionFacts(one).map(([name, value]) => `<dt>${name}</dt><dd>${text(visibleLine(value))}</dd>`)
  return [
    '<section>',
    ...(isOneOfMany ? [`<h2>${text(visibleLine(sessionTitle(one)))}</h2>`] : []),
    `<dl>${facts.join('')}</dl>`,
    ...(missing ? [`<p class="missing">${missing}</p>`] : []),
    ...turnsOf(one).map((turn, place) => turnPart(turn, ` id="${placeName(at, place)}" tabindex="-1"`)),
    '</section>',
  ].join('\n')
}

/** Made of counts, so that no id of the page comes from data. */
const placeName = (session: number, turn: number): string => `s${session + 1}-t${turn + 1}`

function turnPart(turn: ExportedTurn, attributes = ''): string {
  const notes = turnNotes(turn).map((note) => text(visibleLine(note)))
  return [
    `<article${attributes}>`,
    `<h3>${text(visibleLine(turnHeading(turn)))}</h3>`,
    ...(notes.length > 0 ? [`<p class="notes">${notes.join(' · ')}</p>`] : []),
    ...(turn.prompt === '' ? [] : [`<div class="prompt" dir="auto">${text(visibleText(turn.prompt))}</div>`]),
    ...turnParts(turn).map((part) =>
      part.kind === 'call' ? callPart(part.call) : `<div class="remark" dir="auto">${replyHtml(part.text)}</div>`,
    ),
    ...(turn.reply === undefined ? [] : [`<div class="reply" dir="auto">${replyHtml(turn.reply)}</div>`]),
    ...(turn.error === undefined ? [] : [`<div class="error" dir="auto">${text(visibleText(turn.error))}</div>`]),
    '</article>',
  ].join('\n')
}

function callPart(call: ExportedCall): string {
  const notes = callNotes(call)
  const about = [shortLine(callGist(call), 120), ...notes].filter((part) => part !== '').map(text)
  const asked = argumentsText(call)
  return [
    `<details><summary${call.success === false ? ' class="failed"' : ''}><b>${text(visibleLine(call.name))}</b>${about.join(' · ')}</summary>`,
    ...(asked ? [block(asked)] : []),
    ...(call.result ? [block(call.result)] : []),
    ...(call.sub_agent ?? []).map((turn) => turnPart(turn)),
    '</details>',
  ].join('\n')
}

/** The parser drops one line end right after the tag, so that the text's own first one stays. */
const block = (content: string): string => `<pre dir="auto">\n${text(visibleText(content))}</pre>`

const hashOf = (content: string): string => `sha256-${createHash('sha256').update(content).digest('base64')}`
