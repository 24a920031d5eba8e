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

/** The provider that the settings name, loaded by whoever asks for work. They are read each time: a daemon outlives a change of them. */
export function openWork(setup: WorkSetup): WorkProvider {
  const { store, config, sessionOf } = setup
  let opened: { settings: string; provider: Promise<WorkProvider> } | undefined
  const provider = async (): Promise<WorkProvider> => {
    const wanted = await config.workProvider()
    const settings = JSON.stringify(wanted)
    if (opened?.settings !== settings) opened = { settings, provider: providerOf(setup, wanted) }
    return opened.provider
  }
  return new CheckedWork(provider, { keptWords: (words) => keptWords(words, store.paths), sessionOf })
}

async function providerOf(
  { store, env }: WorkSetup,
  settings: Awaited<ReturnType<Config['workProvider']>>,
): Promise<WorkProvider> {
  const { BuiltInWork } = await import('./built-in-work.js')
  const builtIn = new BuiltInWork(store)
  if (settings.name === 'built-in') return builtIn
  const [{ Bd }, { BeadsWork }] = await Promise.all([import('./beads/bd.js'), import('./beads/beads-work.js')])
  return new BeadsWork(new Bd(settings, env, () => store.context.actor), store, builtIn)
}
