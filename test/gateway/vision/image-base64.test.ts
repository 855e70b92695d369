import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { decodeBase64, readBase64 } from '#gateway/vision/image-base64.ts'

describe('base64 of an image', () => {
  it('is read in shares of the loop, even with whitespace between all of its digits', async () => {
    let turns = 0
    let open = true
    const turn = () => void (open && ++turns && setImmediate(turn))
    setImmediate(turn)
    const found = await readBase64('A '.repeat(4_000_000), 'image')
    const bytes = await decodeBase64(found)
    open = false
    expect([found.size, bytes.length, bytes.every((byte) => byte === 0)]).toEqual([3_000_000, 3_000_000, true])
    expect(turns).toBeGreaterThan(1)
  })

  it.each([0, 1, 2, 3, 100_000, 200_001, 200_002])('of %i bytes has them, also with line ends', async (length) => {
    const bytes = randomBytes(length)
    const text = bytes.toString('base64')
    for (const given of [text, text.replaceAll(/.{1,76}/g, '$&\r\n')]) {
      const found = await readBase64(given, 'image')
      expect([found.text, found.size]).toEqual([text, length])
      expect(bytes.equals(await decodeBase64(found))).toBe(true)
    }
  })

  it.each([
    ['padding in its middle', 'QQ==QQ=='],
    ['padding at the end of a step', `${'A'.repeat(65_534)}==QUJD`],
    ['three characters of padding', 'QUJDQ==='],
    ['one digit too many', 'QUJDQ'],
    ['another character in a late step', `${'A'.repeat(131_072)}!AAA`],
    ['characters of base64url', 'QU-_'],
  ])('with %s is refused', async (_, text) => {
    await expect(readBase64(text, 'images[0]')).rejects.toMatchObject({ code: 'bad_request' })
  })
})
