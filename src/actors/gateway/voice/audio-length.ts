import type { AudioFile } from './audio-file.ts'

/**
 * Seconds of an audio file as its own headers have it; null when they do not say.
 *
 * For what is shown (`duration`), never for what is charged: that goes by what the provider reports.
 */
export const audioLength = async (bytes: Uint8Array, mimeType: string): Promise<number | null> => {
  // loaded by what needs it first: few requests do
  const { parseBuffer } = await import('music-metadata')
  try {
    const { format } = await parseBuffer(bytes, { mimeType }, { duration: true })
    const { duration } = format
    return duration !== undefined && Number.isFinite(duration) ? duration : null
  } catch {
    return null
  }
}

/** Bytes a second below which speech is hardly ever encoded: 8 kbit/s. */
const leastRate = 1000

/** Seconds that a file can hold at most, without looking into it further than a WAV header: what a budget is held against. */
export const mostSeconds = ({ bytes, container }: AudioFile): number => {
  const rate = container === 'wav' && bytes.length >= 32 ? byteRate(bytes) : leastRate
  return Math.ceil(bytes.length / Math.max(leastRate, rate))
}

const byteRate = (wav: Uint8Array): number => new DataView(wav.buffer, wav.byteOffset, wav.length).getUint32(28, true)
