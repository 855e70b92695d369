/** Parses a multipart form; null when it is none. */
export const formOf = (contentType: string, body: Buffer): Promise<FormData | null> =>
  new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData().catch(() => null)
