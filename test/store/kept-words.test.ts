import { expect, it } from 'vitest'
import { filterText } from '../../src/privacy/index.js'
import { withoutSecrets } from '../../src/store/kept-words.js'
import { profilePaths } from '../../src/store/paths.js'
import { HELD_OUT_SECRETS } from '../privacy/held-out/secrets.js'
import { SECRETS_OF_2026 } from '../privacy/held-out/secrets-of-2026.js'
import { SAMPLES } from '../privacy/samples.js'

const PATHS = profilePaths('/nowhere', 'default')

it('filters every text in which a rule finds something, though it loads the rules for few', async () => {
  // A token may be made of letters alone.
  const letters = `hf_${'abcdefGHIJKLmnopqrSTUVWXyzabcdEFGH'}`
  const texts = [
    letters,
    `I used ${letters} today`,
    ...[...SAMPLES, ...HELD_OUT_SECRETS, ...SECRETS_OF_2026].map(({ text }) => text),
  ]
  const unlike: string[] = []
  for (const title of texts)
    if ((await withoutSecrets({ title }, PATHS)).title !== filterText(title).text) unlike.push(title)
  expect(unlike).toEqual([])
})
