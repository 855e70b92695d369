const separator = '/'

/** Returns the id of the vector of a page's lead: the id of the first chunk of the page, and a hash of the lead. */
export const leadId = (chunk: string, hash: string): string => `${chunk}${separator}${hash}`

/** Returns the first chunk of the page of a lead; null for the id of a chunk. */
export const chunkOfLead = (id: string): string | null => {
  const end = id.indexOf(separator)
  return end === -1 ? null : id.slice(0, end)
}
