import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { replyHtml } from '../../src/interchange/reply-html.js'
import { HOSTILE } from './hostile-texts.js'
import { strangeTags, unbalanced } from './reply-tags.js'

const flat = (reply: string): string => replyHtml(reply).replaceAll('\n', '')

describe('the Markdown of a reply as HTML', () => {
  it.each([
    ['# One\n\n### Three ###\n\n###### Six', '<h4>One</h4><h6>Three</h6><h6>Six</h6>'],
    ['Title\n===\n\nLess\n---\ntext', '<h4>Title</h4><h5>Less</h5><p>text</p>'],
    [
      'a **b *c* d** _e_ ~~f~~ snake_case_name',
      '<p>a <strong>b <em>c</em> d</strong> <em>e</em> <del>f</del> snake_case_name</p>',
    ],
    ['***both*** 2 * 3 * 4', '<p><em><strong>both</strong></em> 2 * 3 * 4</p>'],
    ['run `a < b` and ``c ` d``', '<p>run <code>a &lt; b</code> and <code>c ` d</code></p>'],
    ['```ts\nif (a < b) {}\n```\nafter', '<pre dir="auto">if (a &lt; b) {}</pre><p>after</p>'],
    ['- a\n- b\n  1. c\n  2. d\n- e', '<ul><li>a</li><li>b<ol><li>c</li><li>d</li></ol></li><li>e</li></ul>'],
    ['3. c\n4. d', '<ol start="3"><li>c</li><li>d</li></ol>'],
    ['- a\n\n- b', '<ul><li><p>a</p></li><li><p>b</p></li></ul>'],
    ['- a\n  ```\n  code\n  ```', '<ul><li>a<pre dir="auto">code</pre></li></ul>'],
    ['> a\n> > b\n\nc', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>'],
    [
      '| a | b |\n|---|:-:|\n| `1` | x \\| y |\n| 2 |',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>1</code></td><td>x | y</td></tr><tr><td>2</td></tr></tbody></table>',
    ],
    ['a\n\n---\n\nb', '<p>a</p><hr><p>b</p>'],
    ['\\*not\\* \\`code\\`', '<p>*not* `code`</p>'],
    ['    indented\n      more', '<pre dir="auto">indented  more</pre>'],
  ])('%j', (reply, html) => {
    expect(flat(reply)).toBe(html)
  })

  const link = (address: string, text: string): string => `<a href="${address}" rel="noopener noreferrer">${text}</a>`

  it.each([
    ['[docs](https://a.test/x "Title")', link('https://a.test/x', 'docs')],
    ['[**b**](http://a.test/(x))', link('http://a.test/(x)', '<strong>b</strong>')],
    ['<mailto:a@b.test>', link('mailto:a@b.test', 'mailto:a@b.test')],
    ['(see https://a.test/x_(y)).', `(see ${link('https://a.test/x_(y)', 'https://a.test/x_(y)')}).`],
    ['[https://a.test](https://a.test)', link('https://a.test', 'https://a.test')],
    ['[a](https://x.test?a=1&b=2)', link('https://x.test?a=1&amp;b=2', 'a')],
    ['[main](src/main.ts)', 'main (src/main.ts)'],
    ['[src/main.ts](src/main.ts)', 'src/main.ts'],
    ['[x](javascript:alert(1))', 'x (javascript:alert(1))'],
    [
      '[x](JaVaScRiPt:alert(1)) [y](data:text/html,z) [z](//evil.test)',
      'x (JaVaScRiPt:alert(1)) y (data:text/html,z) z (//evil.test)',
    ],
    ['![a cat](https://tracker.test/y.png)', 'a cat (https://tracker.test/y.png)'],
    ['[![b](https://i.test/b.svg)](https://a.test)', link('https://a.test', 'b (https://i.test/b.svg)')],
    ['*a [b* c](https://a.test)', `<em>a [b</em> c](${link('https://a.test', 'https://a.test')})`],
  ])('links to http, https and mailto only: %j', (reply, html) => {
    expect(flat(reply)).toBe(`<p>${html}</p>`)
  })

  it.each(HOSTILE)('makes no element that is not in the list of %j', (text) => {
    expect(strangeTags(replyHtml(text))).toEqual([])
    expect(unbalanced(replyHtml(text))).toBeUndefined()
  })

  it('makes of any text only elements and attributes of the list, each closed where it belongs', () => {
    const sign = fc.constantFrom(
      ...[
        '*',
        '**',
        '***',
        '_',
        '~~',
        '`',
        '``',
        '```\n',
        '[',
        '](',
        ')',
        '![',
        '<',
        '>',
        '"',
        "'",
        '|',
        '|-|\n',
        '\n',
        '\n\n',
        ' ',
        '    ',
      ],
      ...[
        '- ',
        '1. ',
        '> ',
        '# ',
        '---\n',
        '===\n',
        '\\',
        'a',
        'http://a',
        'https://b.test/',
        'mailto:c',
        'javascript:d',
        '&lt;',
        '(',
        '\t',
      ],
    )
    const text = fc.oneof(
      fc.array(fc.oneof(sign, fc.constantFrom(...HOSTILE)), { maxLength: 60 }).map((pieces) => pieces.join('')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(text, (reply) => {
        const html = replyHtml(reply)
        expect(strangeTags(html)).toEqual([])
        expect(unbalanced(html)).toBeUndefined()
      }),
      { numRuns: 3_000, seed: 20_261_116 },
    )
  })

  it.each([
    ...[
      '*',
      '**',
      '_a',
      '*a_',
      '*a **b ',
      '~~',
      '[',
      '![',
      '](',
      '[](',
      '[a](b',
      '[a](b "',
      '[a](<',
      '`a``b```',
      '\\',
      '<http://',
    ],
    ...[
      'https://',
      'https://a.)',
      '> ',
      '- ',
      '1. ',
      '> - ',
      '# ',
      '#',
      '|',
      '|-',
      '|a|\n|-|\n',
      '~~~\n',
      '```\n',
      '- a\n\n',
      '-\n',
      ' ',
      '\t',
    ],
    ...['a\n', '>', 'x | y\n--|--\n', '(', ')', '[https://a.b](', '*[', ']*'],
  ])('a reply of 200 KB of %j takes four times the work of 50 KB, and is not much longer', (piece) => {
    const lookedAt = (length: number): { looked: number; html: string } => {
      const effort = { looked: 0 }
      const html = replyHtml(piece.repeat(Math.ceil(length / piece.length)), effort)
      return { looked: effort.looked, html }
    }
    const [small, large] = [lookedAt(50_000), lookedAt(200_000)]
    expect(large.looked).toBeLessThan(small.looked * 5 + 1_000)
    expect(large.looked).toBeLessThan(200_000 * 40)
    expect(large.html.length).toBeLessThan(200_000 * 60)
    expect(deepest(large.html)).toBeLessThan(64)
  })

  it('text of rows of backticks that never match takes linear work', () => {
    const rows = (count: number): number => {
      const effort = { looked: 0 }
      const text = Array.from({ length: count }, (_, at) => '`'.repeat(at + 1)).join('a')
      replyHtml(text, effort)
      return effort.looked / text.length
    }
    expect(rows(600)).toBeLessThan(rows(150) * 1.5)
  })
})

function deepest(html: string): number {
  let [depth, most] = [0, 0]
  for (const [tag] of html.matchAll(/<[^>]*>/g)) {
    if (tag === '<hr>') continue
    depth += tag.startsWith('</') ? -1 : 1
    most = Math.max(most, depth)
  }
  return most
}
