/** Sample rate of `pcm` responses, in Hz. */
export const pcmRate = 24_000

/** Length value that players and ffmpeg interpret as "until the end of the stream". */
const untilTheEnd = 0xffff_ffff

/**
 * Returns the 44-byte WAV header for 16-bit mono samples.
 *
 * @param dataBytes total size of the samples; null when it is not known yet.
 */
export const wavHeader = (dataBytes: number | null, rate: number): Buffer => {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(dataBytes === null ? untilTheEnd : dataBytes + 36, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(dataBytes ?? untilTheEnd, 40)
  return header
}
