import type { Operation } from '#specs/dsl/declare.ts'

/** An encoded multipart form. */
export interface SampleForm {
  readonly contentType: string
  readonly body: Buffer
}

/** Whether an operation accepts only forms. */
export const takesForms = ({ files }: Operation): boolean => files !== null && !files.orJson

/** A form with these text fields, and a small file in each file field. */
export const sampleForm = ({ files }: Operation, fields: unknown): SampleForm => {
  const boundary = 'sample-form'
  const texts = Object.entries(typeof fields === 'object' && fields !== null ? fields : {}).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const uploads = (files?.fields ?? []).map(
    (name) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="sample.wav"\r\n` +
      'content-type: audio/wav\r\n\r\nRIFF\r\n',
  )
  const body = Buffer.from(`${[...texts, ...uploads].join('')}--${boundary}--\r\n`)
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}
