import { expect, it } from 'vitest'
import { redact } from '../../src/privacy/index.js'
import { EVERYDAY_FORMS } from './everyday/forms.js'
import { leaks, SPELLINGS, type Spelling, spelled } from './everyday/spellings.js'

/** How many of the forms leak eight characters or more. */
const LEAKS: Record<Spelling, number> = {
  plain: 47,
  coloured: 174,
  'JSON-escaped': 48,
  'coloured and JSON-escaped': 174,
  'hidden characters': 129,
}

it.each(SPELLINGS)('leaks no more everyday forms than docs/PRIVACY.md says: %s', (spelling) => {
  const leaked = EVERYDAY_FORMS.filter((form) =>
    spelled(form, spelling).some((text) => leaks(form.secret, redact(text).text)),
  )
  if (process.env.SKEIN_SHOW_FIGURES) {
    console.log(`${spelling}: ${leaked.length} of ${EVERYDAY_FORMS.length} leak`)
    for (const { name } of leaked) console.log('leaks', name)
  }
  expect(leaked.length).toBeLessThanOrEqual(LEAKS[spelling])
})
