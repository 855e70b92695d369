import encodeQR from 'qr'
import decodeQR from 'qr/decode.js'
import { describe, expect, it } from 'vitest'
import { base32, codeAt, otpauthUri, stepOf } from '#actors/accounts/sign-in/totp.ts'

const key = Buffer.from('12345678901234567890')

describe('the codes of an authenticator', () => {
  it('are those of RFC 4226, appendix D', () => {
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489']
    expect(codes.map((_, step) => codeAt(key, step))).toEqual(codes)
  })

  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('at %i s are the last six digits of those of RFC 6238, appendix B', (atS, eight) => {
    expect(codeAt(key, Math.floor(atS / 30))).toBe(eight.slice(2))
  })

  it('are valid in their own step, the one before and the one after', () => {
    const at = (step: number) => stepOf(key, codeAt(key, 1000), step * 30_000 + 12_345)
    expect([998, 999, 1000, 1001, 1002].map(at)).toEqual([null, 1000, 1000, 1000, null])
  })

  it('are not valid in any other form', () => {
    for (const code of ['', '75522', '7552244', '75522 4', 'abcdef', '٧٥٥٢٢٤'])
      expect(stepOf(key, code, 60_000)).toBeNull()
  })
})

describe('the key of an authenticator', () => {
  it('is shown in base32 of RFC 4648', () => {
    expect(['foooo', 'fooba', ''].map((text) => base32(Buffer.from(text)))).toEqual(['MZXW633P', 'MZXW6YTB', ''])
    expect(base32(key)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  })

  it('is read from the QR code', () => {
    const uri = otpauthUri(key, 'ada+x@example.org')
    const rows = encodeQR(uri, 'raw', { border: 4, scale: 4 })
    const height = rows.length
    const data = new Uint8Array(rows.flatMap((row) => row.flatMap((dark) => (dark ? [0, 0, 0] : [255, 255, 255]))))
    expect(decodeQR({ height, width: rows[0]?.length ?? 0, data })).toBe(uri)
    expect(uri).toBe(
      'otpauth://totp/Troupe:ada%2Bx%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Troupe',
    )
  })
})
