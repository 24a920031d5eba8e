import { expect, it } from 'vitest'
import { redact, redactAsCommand } from '../../src/privacy/index.js'
import { EVERYDAY_FORMS } from './everyday/forms.js'
import { leaks, SPELLINGS, spelled } from './everyday/spellings.js'

/** The forms of which eight characters or more stay readable, and why. `docs/PRIVACY.md` has the figures before and after. */
const STAY: Readonly<Record<string, string>> = {
  'a composer auth file': 'only the name of a host is beside it, and the token has no form of its own',
}

it.each(SPELLINGS)('of the everyday forms, only those leak that are listed with a reason: %s', (spelling) => {
  const leaked = EVERYDAY_FORMS.filter((form) =>
    spelled(form, spelling).some((text) => leaks(form.secret, redact(text).text)),
  )
  if (process.env.SKEIN_SHOW_FIGURES) {
    console.log(`${spelling}: ${leaked.length} of ${EVERYDAY_FORMS.length} leak`)
    for (const { name } of leaked) console.log('leaks', name)
  }
  expect(leaked.map(({ name }) => name)).toEqual(Object.keys(STAY))
})

it('the list has at least 120 forms, each under a name of its own', () => {
  expect(EVERYDAY_FORMS.length).toBeGreaterThanOrEqual(120)
  expect(new Set(EVERYDAY_FORMS.map(({ name }) => name)).size).toBe(EVERYDAY_FORMS.length)
})

it.each(SPELLINGS)('what is left of a form is not changed by redacting it again: %s', (spelling) => {
  for (const form of EVERYDAY_FORMS) {
    for (const text of spelled(form, spelling)) {
      const kept = redact(text).text
      expect(redact(kept), form.name).toEqual({ text: kept, applied: {} })
      const command = redactAsCommand(text).text
      expect(redactAsCommand(command), form.name).toEqual({ text: command, applied: {} })
    }
  }
})

it('what stands beside a coloured secret keeps its colours, and those inside of it go with it', () => {
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  const red = (text: string): string => `\x1b[31m${text}\x1b[0m`
  expect(redact(`${red('user')} ${red(token.slice(0, 10))}${red(token.slice(10))} ${red('end')}`).text).toBe(
    `${red('user')} ${red('[REDACTED:github-token]')} ${red('end')}`,
  )
})

it('wide letters are read wherever they begin, also in a short text', () => {
  const wide = Array.from('password = "SIWuK!LF8F9-oOSJ"', (letter) => `${letter}\0`).join('')
  for (const before of ['', 'x', '> ', 'path/', 'key '])
    expect(redact(`${before}${wide}\n`).text, before).toContain('[REDACTED:password]')
  expect(redact('{"apiKey":"GCdC2O7Dn\0Dk6hxNRbE2beBUxNxlRm04mArXPZO33"}').text).not.toContain('mArXPZO33')
})
