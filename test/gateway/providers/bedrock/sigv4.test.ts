import { describe, expect, it } from 'vitest'
import { signatureHeaders } from '#gateway/providers/bedrock/sigv4.ts'

/** Credentials, time and signatures of AWS's published test suite. */
const signer = {
  ...{ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', sessionToken: null },
  ...{ region: 'us-east-1', service: 'service' },
}
const now = Date.UTC(2015, 7, 30, 12, 36)
const signatureOf = async (method: string, path: string): Promise<string | undefined> => {
  const url = new URL(`https://example.amazonaws.com${path}`)
  return (await signatureHeaders({ method, url, body: '' }, signer, now)).authorization
}

describe('a signature of AWS, version 4', () => {
  it.each([
    ['get-vanilla', 'GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['post-vanilla', 'POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-vanilla-query',
      'POST',
      '/?Param1=value1',
      '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
    ],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ])('is that of the published vector %s', async (_name, method, path, signature) => {
    const scope = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request'
    const wanted = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`
    expect(await signatureOf(method, path)).toBe(wanted)
  })
})
