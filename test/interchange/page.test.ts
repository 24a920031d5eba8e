import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exportDocument, pageOf } from '../../src/interchange/index.js'
import { PAGE_SCRIPT } from '../../src/interchange/page-script.js'
import { PAGE_STYLE } from '../../src/interchange/page-style.js'
import { visibleText } from '../../src/interchange/visible-text.js'
import { DEFAULT_PRIVACY } from '../../src/privacy/index.js'
import { AT, aHistory, aTurn, everywhere, historyWith, PLACES, type Texts } from './history.js'
import { HOSTILE } from './hostile-texts.js'
import { strangeTags } from './reply-tags.js'

const pageWith = (texts: Texts): string =>
  pageOf(exportDocument([{ history: historyWith(texts), policy: DEFAULT_PRIVACY }], { at: AT }))

const RENDERED = /(<div class="(?:reply|remark)" dir="auto">)([\s\S]*?)(?=<\/div>)/g
/** All tags with their attributes, in order: what a parser would make elements of. Without those within what agents wrote in Markdown. */
const skeleton = (html: string): string[] => html.replace(RENDERED, '$1').match(/<[^>]*>/g) ?? []
/** What agents wrote, as the page has it. */
const rendered = (html: string): string[] => [...html.matchAll(RENDERED)].map(([, , inside = '']) => inside)
const textOf = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(
      /&(amp|lt|gt|quot|#39);/g,
      (entity) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' })[entity] ?? "'",
    )

const plain = skeleton(pageWith(everywhere('x')))

describe('the exported page', () => {
  it.each(HOSTILE)('has the same tags whether a text is harmless or %j', (text) => {
    const page = pageWith(everywhere(text))
    expect(skeleton(page)).toEqual(plain)
    expect(textOf(page)).toContain(visibleText(text))
    expect(rendered(page).flatMap(strangeTags)).toEqual([])
  })

  it('has no tag and no attribute from data, whatever the texts are', () => {
    const word = fc.oneof(
      fc.constantFrom(...HOSTILE),
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '!', '-', '\n', ' ', 'a', '`', '\0') }),
    )
    const filled = word.filter((text) => text.trim() !== '')
    fc.assert(
      fc.property(fc.record(Object.fromEntries(PLACES.map((place) => [place, filled]))), (texts) => {
        const page = pageWith(texts as unknown as Texts)
        expect(skeleton(page)).toEqual(plain)
        expect(rendered(page).flatMap(strangeTags)).toEqual([])
      }),
      { numRuns: 300, seed: 20_261_116 },
    )
  })

  it('renders the Markdown of replies and remarks, and shows prompts and errors as they were written', () => {
    const page = pageWith(everywhere('**bold**'))
    expect(rendered(page)).toContain('<p><strong>bold</strong></p>')
    for (const place of ['prompt', 'error']) expect(page).toContain(`<div class="${place}" dir="auto">**bold**</div>`)
  })

  it('lets the browser run its own style and script and nothing else', () => {
    const page = pageWith(everywhere('x'))
    const hash = (content: string): string => createHash('sha256').update(content).digest('base64')
    expect(page).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash(PAGE_STYLE)}'; script-src 'sha256-${hash(PAGE_SCRIPT)}'; base-uri 'none'; form-action 'none'"`,
    )
    expect(page.match(/<script>[\s\S]*?<\/script>/g)).toEqual([`<script>${PAGE_SCRIPT}</script>`])
    expect(PAGE_SCRIPT).not.toMatch(/<\/|<!--|innerHTML|https?:/)
    expect(PAGE_STYLE).not.toMatch(/<|url\(|@import/)
  })

  it('names every turn in its list, and keeps tool calls folded', () => {
    const page = pageWith(everywhere('x'))
    for (const place of ['s1-t1', 's1-t2', 's1-t3']) {
      expect(page).toContain(`<a href="#${place}">`)
      expect(page).toContain(`<article id="${place}"`)
    }
    expect(page).not.toContain('<details open')
  })

  it('says so when the log is gone, and when there never was one', () => {
    const gone = (turns: number): string =>
      pageOf(
        exportDocument(
          [
            {
              history: aHistory({
                from_log: false,
                told_from: 'counts',
                turns: turns > 0 ? [aTurn({ prompt: '' })] : [],
              }),
              policy: DEFAULT_PRIVACY,
            },
          ],
          { at: AT },
        ),
      )
    expect(gone(1)).toContain('The log of this session is gone')
    expect(gone(0)).toContain('This session has no log')
  })

  it('is small: what it adds to an empty session is less than 16 KB', () => {
    const page = pageOf(exportDocument([{ history: aHistory(), policy: DEFAULT_PRIVACY }], { at: AT }))
    expect(Buffer.byteLength(page)).toBeLessThan(16_384)
  })
})
