import { sharedParsers } from '#src/parsing/parser-pool.ts'
import type { AudioFile } from './audio-file.ts'

/**
 * Returns the length of an audio file in seconds according to its headers; null when they do not state it.
 *
 * It is used for display (`duration`), never for billing: charges are based on what the provider reports.
 */
export const audioLength = async (bytes: Uint8Array, mimeType: string): Promise<number | null> => {
  try {
    const seconds = await sharedParsers.parse('audio_seconds', { bytes, mimeType })
    return typeof seconds === 'number' ? seconds : null
  } catch {
    return null
  }
}

/** Byte rates of audio: speech is rarely encoded below 8 kbit/s; the maximum is two channels of 48 kHz in 32 bits. */
const rates = { min: 1000, max: 384_000 }

/** Returns the maximum length of a file in seconds, for the budget check; only a WAV header is inspected. */
export const maxSeconds = ({ bytes }: Pick<AudioFile, 'bytes'>): number =>
  Math.ceil(bytes.length / Math.min(rates.max, Math.max(rates.min, byteRate(bytes))))

/** Returns the byte rate of a WAV file; 0 for other formats. */
const byteRate = (bytes: Uint8Array): number => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 32))
  return head.length === 32 && head.toString('latin1', 8, 12) === 'WAVE' ? head.readUInt32LE(28) : 0
}
