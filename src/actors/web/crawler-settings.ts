import { Port } from '../capability/port.ts'

/** How crawls treat foreign hosts. */
export interface CrawlerSettings {
  /** URL or e-mail address in the user agent, at which the owner of a host can complain; null: none. */
  readonly contact: string | null
  /** Maximum number of requests at a time to one host, over all crawls. */
  readonly atOnce: number
  /** Minimum time between two requests to one host, in ms. */
  readonly delayMs: number
}

export const defaultCrawler: CrawlerSettings = { contact: null, atOnce: 2, delayMs: 200 }

export const crawlerPort = new Port<CrawlerSettings>('the settings of the crawler')
