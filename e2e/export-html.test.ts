import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exportDocument, pageOf } from '../src/interchange/index.js'
import { visibleText } from '../src/interchange/visible-text.js'
import { DEFAULT_PRIVACY } from '../src/privacy/index.js'
import { AT, aCall, aHistory, aTurn, everywhere, historyWith } from '../test/interchange/history.js'
import { HOSTILE } from '../test/interchange/hostile-texts.js'

const root = mkdtempSync(join(tmpdir(), 'skein-page-'))
let browser: BrowserContext
beforeAll(async () => {
  browser = await chromium.launchPersistentContext(join(root, 'profile'), {
    executablePath: execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(),
    headless: true,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
    colorScheme: 'light',
    viewport: { width: 1200, height: 800 },
  })
})
afterAll(async () => {
  await browser?.close()
  rmSync(root, { recursive: true, force: true })
})

interface Opened extends AsyncDisposable {
  page: Page
  /** Everything that was asked for beside the page itself, and everything that ran. */
  incidents: string[]
}

let files = 0
/** Opens a page from disk and writes down what it does. */
async function open(html: string): Promise<Opened> {
  const path = join(root, `page-${files++}.html`)
  writeFileSync(path, html)
  const address = pathToFileURL(path).href
  const page = await browser.newPage()
  const incidents: string[] = []
  page.on('dialog', (dialog) => {
    incidents.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (request.url() !== address) incidents.push(`request ${request.url()}`)
  })
  page.on('requestfailed', (request) => incidents.push(`failed ${request.failure()?.errorText} ${request.url()}`))
  page.on('response', (response) => {
    if (response.url() !== address) incidents.push(`response ${response.url()}`)
  })
  page.on('pageerror', (error) => incidents.push(`error ${error.message}`))
  page.on('console', (message) => incidents.push(`console ${message.text()}`))
  page.on('popup', () => incidents.push('popup'))
  await page.goto(address)
  return { page, incidents, [Symbol.asyncDispose]: () => page.close() }
}

const pageWith = (text: string): string =>
  pageOf(exportDocument([{ history: historyWith(everywhere(text)), policy: DEFAULT_PRIVACY }], { at: AT }))

const WRITTEN = ':is(.reply, .remark) *'

/** Elements and attributes as the browser made them, without any text and without what clicking changes. */
const elements = (page: Page, selector = `:not(${WRITTEN})`): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => {
    const names = one.getAttributeNames().filter((name) => name !== 'open' && name !== 'aria-current')
    return [one.localName, ...names.map((name) => name + '=' + one.getAttribute(name))].join(' ')
  })`)

/** What the Markdown of a reply may become. */
const ALLOWED =
  /^(?:p|h[456]|em|strong|del|code|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|hr|pre dir=auto|ol start=\d+|a href=(?:https?:\/\/|mailto:)\S+ rel=noopener noreferrer)$/i
const strange = async (page: Page): Promise<string[]> =>
  (await elements(page, WRITTEN)).filter((one) => !ALLOWED.test(one))

const flag = (page: Page): Promise<unknown> => page.evaluate('globalThis.pwned')

const MARKDOWN = `## What I found

The flock turns **together**, *slowly*, ~~never~~, as \`steer()\` says. See [the paper](https://a.test/geese) or ![a goose](https://tracker.test/goose.png).

1. It looks left
   - at the wing
   - at the tail
     - and at the beak
2. It looks right

\`\`\`ts
if (left < right) turn('left')
\`\`\`

> Each bird follows
> the one before it.

| bird   | speed |
| ------ | ----- |
| goose  | 64 km/h |
| \`swan\` | 80 km/h |

---

`

describe('an exported page in Chromium, opened from disk', () => {
  it('shows hostile texts as they were written, runs none of them, and asks for nothing', async () => {
    await using harmless = await open(pageWith('x'))
    const expected = await elements(harmless.page)
    expect(harmless.incidents).toEqual([])
    for (const text of HOSTILE) {
      await using opened = await open(pageWith(text))
      const { page, incidents } = opened
      await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)
      for (const link of await page.locator('nav a:visible').all()) await link.click()
      expect({ text, elements: await elements(page) }).toEqual({ text, elements: expected })
      expect(await strange(page)).toEqual([])
      const prompt = await page.locator('.prompt').first().textContent()
      expect(prompt).toBe(visibleText(text))
      expect(await page.locator('details > pre').nth(1).textContent()).toBe(visibleText(text))
      expect(await flag(page)).toBeUndefined()
      expect(incidents).toEqual([])
    }
  })

  it('makes the same elements of any texts', async () => {
    await using harmless = await open(pageWith('x'))
    const expected = await elements(harmless.page)
    const piece = fc.oneof(
      fc.constantFrom(...HOSTILE),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('<', '&', '"', '-->'),
    )
    const any = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''))
    await fc.assert(
      fc.asyncProperty(
        any.filter((text) => text.trim() !== ''),
        async (text) => {
          await using opened = await open(pageWith(text))
          expect(await elements(opened.page)).toEqual(expected)
          expect(await strange(opened.page)).toEqual([])
          expect(await flag(opened.page)).toBeUndefined()
          expect(opened.incidents).toEqual([])
        },
      ),
      { numRuns: 25 },
    )
  })

  it('would run and load nothing even if a text had got through', async () => {
    const smuggled = '<script>window.pwned = 1</script><img src="https://tracker.test/x" onerror="window.pwned = 2">'
    await using opened = await open(pageWith('x').replace('<main>', `<main>${smuggled}<style>body{color:red}</style>`))
    const { page, incidents } = opened
    await page
      .locator('img')
      .click({ force: true, timeout: 1_000 })
      .catch(() => undefined)
    expect(await flag(page)).toBeUndefined()
    // Chromium tells of the picture that it did not ask for, so the list would have told of one that it did.
    expect(incidents.filter((line) => !line.startsWith('console'))).toEqual([
      'request https://tracker.test/x',
      'failed csp https://tracker.test/x',
    ])
    expect(incidents.filter((line) => line.includes('violates')).length).toBe(4)
  })

  it('searches, folds, changes its colours and goes from turn to turn', async () => {
    const call = aCall({ arguments: { command: 'git log' }, result: 'a needle in the haystack' })
    const turns = Array.from({ length: 12 }, (_, at) =>
      aTurn({
        number: at + 1,
        started_at: AT,
        duration_ms: 42_000,
        prompt: `Question ${at + 1}: how does the flock keep its shape?`,
        reply: `${at === 0 ? MARKDOWN : ''}Answer ${at + 1}.\n\n${'Each bird follows the one before it, and the one beside it. '.repeat(8)}`,
        tool_calls: at === 6 ? [call, aCall({ name: 'Read', success: false })] : [aCall()],
      }),
    )
    const { session } = aHistory()
    const history = aHistory({ session: { ...session, title: 'How geese fly', cwd: '/srv/web' }, turns })
    await using opened = await open(pageOf(exportDocument([{ history, policy: DEFAULT_PRIVACY }], { at: AT })))
    const { page, incidents } = opened
    const shown = page.locator('main article:visible')
    expect(await page.locator('nav li:visible').count()).toBe(12)

    const reply = page.locator('#s1-t1 .reply')
    const counts = [
      'h5',
      'strong',
      'em',
      'del',
      'p code',
      'ol > li',
      'ul ul li',
      'pre',
      'blockquote',
      'tr',
      'hr',
      'a',
      'img',
    ]
    const found = await Promise.all(counts.map((one) => reply.locator(one).count()))
    expect(found).toEqual([1, 1, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 0])
    if (process.env.SKEIN_PAGE_PICTURE) await page.screenshot({ path: `${process.env.SKEIN_PAGE_PICTURE}-reply.png` })

    const result = page.getByText('a needle in the haystack')
    expect(await result.isVisible()).toBe(false)
    await page.locator('#s1-t7 summary').first().click()
    expect(await result.isVisible()).toBe(true)
    await page.locator('#s1-t7 summary').first().click()
    expect(await result.isVisible()).toBe(false)

    await page.keyboard.press('/')
    await page.keyboard.type('NEEDLE')
    expect(await page.locator('#count').textContent()).toBe('1 found')
    expect(await shown.count()).toBe(1)
    expect(await page.locator('nav li:visible').count()).toBe(1)
    await page.keyboard.press('Enter')
    expect(await result.isVisible()).toBe(true)
    await page.keyboard.press('Escape')
    expect(await shown.count()).toBe(12)
    await page.locator('#find').fill('turns together, slowly, never, as steer() says')
    expect(await page.locator('#count').textContent()).toBe('1 found')
    await page.locator('#find').fill('at the tailand')
    expect(await page.locator('#count').textContent()).toBe('0 found')
    for (const odd of ['(', '[a-', '\\', '.*', 'a/b', '-', 'İ']) await page.locator('#find').fill(odd)
    await page.locator('#find').fill('')

    await page.evaluate('document.activeElement.blur()')
    for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key)
    expect(await page.locator('nav a[aria-current]').textContent()).toContain('Question 2')
    expect(await page.evaluate('document.activeElement.id')).toBe('s1-t2')

    const paper = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await paper()
    await page.locator('#theme').click()
    const dark = await paper()
    expect(dark).not.toBe(light)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('#theme').click()
    expect(await paper()).toBe(light)
    await page.evaluate(`document.documentElement.removeAttribute('data-theme')`)
    expect(await paper()).toBe(dark)

    await page.locator('#fold').click()
    expect(await page.locator('details:not([open])').count()).toBe(0)
    if (process.env.SKEIN_PAGE_PICTURE) await page.screenshot({ path: process.env.SKEIN_PAGE_PICTURE })
    expect(incidents).toEqual([])
  })
})
