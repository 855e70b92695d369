import { maxUrlLength } from '#specs/resources/web/web-limits.ts'
import type { JsonObject } from '#storage/index.ts'
import type { OpenedTag } from './clean-html.ts'
import { articleIn, authorIn, jsonLdOf, maxJsonLd, textIn } from './json-ld.ts'

/** Metadata of a page. Times are RFC 3339 in UTC, URLs absolute. */
export type PageFacts = {
  readonly title: string
  readonly description: string
  /** Language as written in the page; null when not given. */
  readonly language: string | null
  readonly canonical: string | null
  readonly publishedAt: string | null
  readonly modifiedAt: string | null
  /** Robots directives in the page. */
  readonly robots: readonly string[]
  readonly metadata: JsonObject
}

/** Reads the metadata elements of a page. Of each fact, the newest standard takes precedence. */
export const pageFacts = (metaTags: readonly OpenedTag[], base: string): PageFacts => {
  const page = new MetaTagReader(metaTags, base)
  const { meta, article } = page
  return {
    title: cut(meta('og:title', 'twitter:title') ?? titleOf(metaTags) ?? textIn(article, 'headline'), maxLengths.title),
    description: cut(
      meta('description', 'og:description', 'twitter:description') ?? textIn(article, 'description'),
      maxLengths.description,
    ),
    language: languageIn(meta('og:locale')?.replace('_', '-')),
    canonical: page.absolute(page.linked('canonical')),
    publishedAt: page.published(),
    modifiedAt: page.modified(),
    robots: robotsOf(page.metas),
    metadata: {
      author: meta('author', 'article:author', 'citation_author') ?? page.author,
      siteName: meta('og:site_name', 'application-name'),
      type: meta('og:type'),
      image: page.absolute(meta('og:image', 'twitter:image')),
      keywords: keywordsOf(meta('keywords', 'news_keywords')),
      feeds: page.feeds(),
      jsonLd: page.jsonLd,
    },
  }
}

/** Maximum lengths of what each hit of a search repeats, in characters. */
const maxLengths = { title: 500, description: 2_000 } as const

const cut = (text: string | null, max: number): string => (text ?? '').slice(0, max).toWellFormed()

/** Returns a language tag (BCP 47) as it is written; null for any other text. */
export const languageIn = (text: string | null | undefined): string | null =>
  text != null && text.length <= 64 && /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,8}$/i.test(text) ? text : null

class MetaTagReader {
  readonly #metaTags: readonly OpenedTag[]
  readonly #base: string
  readonly metas: readonly OpenedTag[]
  readonly jsonLd: readonly JsonObject[]
  /** The JSON-LD object that describes an article. */
  readonly article: JsonObject
  readonly author: string | null

  constructor(metaTags: readonly OpenedTag[], base: string) {
    this.#metaTags = metaTags
    this.#base = base
    this.metas = metaTags.filter(({ name }) => name === 'meta')
    const objects = jsonLdOf(metaTags)
    this.jsonLd = objects.slice(0, maxJsonLd)
    this.article = articleIn(objects)
    this.author = authorIn(this.article, objects)
  }

  /** Returns the content of the first of these names that the page has. */
  meta = (...names: readonly string[]): string | null => {
    for (const name of names) {
      const found = this.metas.find(({ attributes: { name: a, property: b, itemprop: c } }) =>
        [a, b, c].some((each) => each?.toLowerCase() === name),
      )
      const content = found?.attributes.content?.replace(/\s+/g, ' ').trim()
      if (content) return content
    }
    return null
  }

  absolute(address: string | null): string | null {
    const href = address === null ? null : (URL.parse(address, this.#base)?.href ?? null)
    return href === null || href.length > maxUrlLength ? null : href
  }

  linked(rel: string): string | null {
    const link = this.#metaTags.find(({ name, attributes }) => name === 'link' && relOf(attributes).includes(rel))
    return link?.attributes.href ?? null
  }

  published(): string | null {
    const named = ['article:published_time', 'datepublished', 'citation_publication_date', 'dc.date.issued']
    return firstTimeOf(
      textIn(this.article, 'datePublished'),
      this.meta(...named, 'dc.date', 'date', 'pubdate'),
      this.#itemTime('datePublished'),
      this.#metaTags.find(({ name, attributes }) => name === 'time' && attributes.datetime)?.attributes.datetime ??
        null,
      dateInPath(this.#base),
    )
  }

  modified(): string | null {
    return firstTimeOf(
      textIn(this.article, 'dateModified'),
      this.meta('article:modified_time', 'og:updated_time', 'datemodified', 'last-modified', 'dc.date.modified'),
      this.#itemTime('dateModified'),
    )
  }

  feeds(): readonly string[] {
    const isFeed = (type = ''): boolean => /^application\/(?:rss|atom)\+xml$/.test(type)
    const feeds = this.#metaTags.filter(({ name, attributes }) => name === 'link' && isFeed(attributes.type))
    return feeds.flatMap(({ attributes }) => this.absolute(attributes.href ?? null) ?? []).slice(0, 10)
  }

  #itemTime(prop: string): string | null {
    return this.#metaTags.find(({ attributes }) => attributes.itemprop === prop)?.attributes.datetime ?? null
  }
}

const keywordsOf = (text: string | null): readonly string[] =>
  (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)
    .slice(0, 50)

const relOf = ({ rel = '' }: OpenedTag['attributes']): readonly string[] => rel.toLowerCase().split(/\s+/)

const titleOf = (metaTags: readonly OpenedTag[]): string | null =>
  metaTags
    .find(({ name }) => name === 'title')
    ?.text()
    .replace(/\s+/g, ' ')
    .trim() || null

/** Returns the directives for `robots` and for this crawler, in lower case. */
const robotsOf = (metas: readonly OpenedTag[]): readonly string[] =>
  metas
    .filter(({ attributes: { name } }) => name?.toLowerCase() === 'robots' || name?.toLowerCase() === 'troupebot')
    .flatMap(({ attributes: { content = '' } }) => content.toLowerCase().split(','))
    .map((each) => each.trim())
    .filter((each) => each !== '')

const firstTimeOf = (...texts: readonly (string | null)[]): string | null => {
  for (const text of texts) {
    const time = timeOf(text)
    if (time !== null) return time
  }
  return null
}

/** Parses ISO 8601 and RFC 2822 times from 1990 to 2100. */
const timeOf = (text: string | null): string | null => {
  if (text === null || text.length > 64 || !/\d{4}/.test(text)) return null
  const time = Date.parse(/^\d{4}\/\d\d\/\d\d$/.test(text) ? text.replaceAll('/', '-') : text)
  if (Number.isNaN(time)) return null
  const date = new Date(time)
  return date.getUTCFullYear() >= 1990 && date.getUTCFullYear() <= 2100 ? date.toISOString() : null
}

/** Returns the date in a URL's path, which blogs and newspapers often have. */
const dateInPath = (url: string): string | null => {
  const found = /\/((?:19|20)\d\d)[/-](\d\d)[/-](\d\d)(?:\/|-|$)/.exec(url)
  return found === null ? null : `${found[1]}-${found[2]}-${found[3]}`
}
