/** Samples a second of simulated speech. */
export const toneRate = 24_000

/** Samples of one frame: 24 ms. */
export const frameSamples = 576

const frameBytes = 96

/*
 * One steady frame each of silence and of four tones, which are 6, 8, 10 and 12 waves long: MPEG-2 layer III, 32 kbit/s,
 * one channel, no bit reservoir, so that any row of frames is a whole MP3. Made with ffmpeg and LAME from sines; what is
 * left out at their ends is zeros.
 */
const silence = '//NExAAAAANIAAAA'
const tones = [
  '//NExAAFiDoYAAXqBMI9lQMHkPCJOBkx///+r/////////UmIKaimZcYmBgA==',
  '//NExAAFQC4YAAX8IIR6+AYSwFgZArg7//////////2/7UxBTUUzLjEwMAAA==',
  '//NExAAFuC4YAAe+IPLAvJXScWOscrLHf9v/////////+z/YmIKaimZcYmBgAA==',
  '//NExAAF6DoYAAUuAMIqwYGMeEet8GGY/7//////////////WmIKaimZcYmBgAAA',
]

const whole = (data: string): Buffer => {
  const frame = Buffer.alloc(frameBytes)
  Buffer.from(data, 'base64').copy(frame)
  return frame
}

/** An MP3 frame of silence. */
export const silentFrame = whole(silence)

/** An MP3 frame of each tone. */
export const toneFrames: readonly Buffer[] = tones.map(whole)

/** Waves of each tone in one frame. */
export const wavesOfTones: readonly number[] = [6, 8, 10, 12]
