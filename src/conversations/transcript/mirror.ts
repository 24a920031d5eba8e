import { NO_USAGE, type TranscriptMessage } from './transcript-format.js'

export interface Delivered {
  text?: string
  mediaUrls?: readonly string[]
}

/**
 * What the transcript says about a delivery: its text, then its media by file name. Undefined when it had neither.
 * Addresses are kept without their query: that is where signed links carry their secrets.
 */
export function mirrorMessage({ text, mediaUrls = [] }: Delivered): Omit<TranscriptMessage, 'timestamp'> | undefined {
  const said = text?.trim() ?? ''
  const media = mediaUrls.map((url) => url.trim().replace(/[?#].*$/s, '')).filter((url) => url !== '')
  const names = media.map(mediaName).filter((name) => name !== '')
  const listed = mediaUrls.length === 0 ? '' : names.join(', ') || 'media'
  const content = [said, listed].filter((part) => part !== '').map((part) => ({ type: 'text' as const, text: part }))
  if (content.length === 0) return undefined
  return { ...SENT_BY_THE_GATEWAY, content, ...(media.length > 0 ? { mediaUrls: media } : {}) }
}

function mediaName(address: string): string {
  const last = address.slice(address.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

/** A message that the gateway sent, not the model: no usage, and a model name that says so. */
const SENT_BY_THE_GATEWAY = {
  role: 'assistant',
  api: 'openai-responses',
  provider: 'openclaw',
  model: 'delivery-mirror',
  usage: NO_USAGE,
  stopReason: 'stop',
}
