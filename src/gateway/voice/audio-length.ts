import { parserRoom } from '#src/parsing/parser-room.ts'
import type { AudioFile } from './audio-file.ts'

/**
 * Seconds of an audio file as its own headers have it; null when they do not say.
 *
 * For what is shown (`duration`), never for what is charged: that goes by what the provider reports.
 */
export const audioLength = async (bytes: Uint8Array, mimeType: string): Promise<number | null> => {
  try {
    const seconds = await parserRoom.parse('audio_seconds', { bytes, mimeType })
    return typeof seconds === 'number' ? seconds : null
  } catch {
    return null
  }
}

/** Bytes a second below which speech is hardly ever encoded: 8 kbit/s. And above: two channels of 48 kHz in 32 bits. */
const rates = { least: 1000, most: 384_000 }

/** Seconds that a file can hold at most, without looking into it further than a WAV header: what a budget is held against. */
export const mostSeconds = ({ bytes }: Pick<AudioFile, 'bytes'>): number =>
  Math.ceil(bytes.length / Math.min(rates.most, Math.max(rates.least, byteRate(bytes))))

/** Of a WAV; 0 of anything else. */
const byteRate = (bytes: Uint8Array): number => {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 32))
  return head.length === 32 && head.toString('latin1', 8, 12) === 'WAVE' ? head.readUInt32LE(28) : 0
}
