import { onDemand } from '../model/index.js'
import type { Config } from '../settings/index.js'
import type { ProfileStore } from '../store/index.js'
import { keptWords } from '../store/index.js'
import { CheckedWork, type WorkSurroundings } from './checked-work.js'
import type { WorkProvider } from './work-provider.js'

export interface WorkSetup {
  store: ProfileStore
  config: Config
  env: Readonly<Record<string, string | undefined>>
  sessionOf: WorkSurroundings['sessionOf']
}

/** The provider that the settings name, loaded by whoever asks for work. */
export function openWork({ store, config, env, sessionOf }: WorkSetup): WorkProvider {
  const provider = onDemand(async () => {
    const settings = await config.workProvider()
    const { BuiltInWork } = await import('./built-in-work.js')
    const builtIn = new BuiltInWork(store)
    if (settings.name === 'built-in') return builtIn
    const [{ Bd }, { BeadsWork }] = await Promise.all([import('./beads/bd.js'), import('./beads/beads-work.js')])
    return new BeadsWork(new Bd(settings, env, () => store.context.actor), store, builtIn)
  })
  return new CheckedWork(provider, { keptWords: (words) => keptWords(words, store.paths), sessionOf })
}
