import type { Row } from '#records/schema.ts'
import { type FindablePage, vectorOfText } from '#retrieval/index.ts'
import type { WebPageData } from '../kinds.ts'

/** Returns what an index finds of a stored page. */
export const findableRow = ({ id, version, data }: Row<WebPageData>): FindablePage => ({
  ...{ id, version, url: data.canonical_url, title: data.title, description: data.description, text: data.text },
  passages: data.passages.map(({ start, end, heading, vector }) => ({
    ...{ start, end, heading, vector: vector === null ? null : vectorOfText(vector) },
  })),
  ...{ contentHash: data.content_hash, language: data.language },
  ...{ publishedAt: data.published_at, firstSeenAt: data.first_seen_at },
  links: data.links.flatMap(({ url, nofollow }) => (nofollow ? [] : [url])),
})
