import { onDemand } from '../model/index.js'
import type { Config } from '../settings/index.js'
import type { ProfileStore } from '../store/index.js'
import { keptWords } from '../store/index.js'
import { CheckedWork, type WorkSurroundings } from './checked-work.js'
import type { WorkProvider } from './work-provider.js'

export interface WorkSetup {
  store: ProfileStore
  config: Config
  sessionOf: WorkSurroundings['sessionOf']
}

/** The provider that the settings name, loaded by whoever asks for work. */
export function openWork({ store, config, sessionOf }: WorkSetup): WorkProvider {
  const provider = onDemand(async () => {
    await config.workProvider()
    const { BuiltInWork } = await import('./built-in-work.js')
    return new BuiltInWork(store)
  })
  return new CheckedWork(provider, { keptWords: (words) => keptWords(words, store.paths), sessionOf })
}
