import type { SessionEntry } from '../entry.js'
import type { SdkOptions } from './agent-sdk.js'

/** What the SDK is asked for at each level. The words are the original's; one that is not listed here changes nothing. */
const THINKING: Readonly<Record<string, Partial<SdkOptions>>> = {
  off: { thinking: { type: 'disabled' } },
  minimal: { effort: 'low' },
  low: { effort: 'low' },
  medium: { effort: 'medium' },
  high: { effort: 'high' },
  xhigh: { effort: 'xhigh' },
  max: { effort: 'max' },
}

/**
 * The options of a run as the conversation wants them: `modelOverride` and `thinkingLevel` win over what the gateway gave.
 * A model of another provider is not for this SDK and is left to the gateway.
 */
export function optionsFor(entry: SessionEntry, options: SdkOptions): SdkOptions {
  const { modelOverride, providerOverride = 'anthropic', thinkingLevel = '' } = entry
  const model = providerOverride === 'anthropic' ? modelOverride : undefined
  const thinking = Object.hasOwn(THINKING, thinkingLevel) ? THINKING[thinkingLevel] : {}
  return { ...options, ...thinking, ...(model === undefined ? {} : { model }) }
}
