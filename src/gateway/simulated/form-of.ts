import { runInSlices } from '#src/concurrency/run-in-slices.ts'
import { boundaryOf, type Form, parseForm } from '#src/pages/multipart-form.ts'

/** Parses a multipart form in steps; null when it is none. */
export const formOf = async (contentType: string, body: Buffer): Promise<Form | null> => {
  const boundary = boundaryOf(contentType)
  return boundary === null ? null : runInSlices(parseForm(body, boundary)).catch(() => null)
}

/** The text of a field; '' when there is none. */
export const fieldOf = (form: Form | null, name: string): string =>
  form?.fields.find(([field]) => field === name)?.[1] ?? ''
