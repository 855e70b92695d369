import { isIn } from './framing-lines.ts'
import type { PageElement } from './schema.ts'

/** Elements that frame a page and are none of its text. */
const frames =
  'nav, aside, form, footer, dialog, figcaption, time, article article, [hidden], [aria-hidden="true"], [role="navigation"], [role="complementary"], [role="banner"], [role="contentinfo"], [role="search"], [role="dialog"], [role="alert"], [role="menu"]'

/** Words in a class or id of what frames a page; whole words, so that `shared-content` is none. */
const words = new Set(
  (
    'nav navbar navigation menu submenu topbar sidebar breadcrumb breadcrumbs crumbs share sharing shares sharedaddy social ' +
    'addthis comment comments commentlist respond disqus related recommended recommendations promo promotion advert ads ' +
    'advertisement adsense banner sponsor sponsored newsletter subscribe subscription signup popup modal overlay cookie ' +
    'cookies consent gdpr login widget widgets pagination pager toolbar tags taglist tagcloud skip offscreen outbrain ' +
    'taboola trending popular mostread teaser teasers copyright disclaimer rating ratings poll tooltip dropdown masthead ' +
    'jp-relatedposts noprint screen-reader-text sr-only visually-hidden author-box authorbox postmeta metadata ' +
    'caption captions credit credits gallery dateline byline timestamp submitted submitted-by submitted-date rollover ' +
    'werbung anzeige empfehlungen weiterlesen teilen kommentare kommentar bildunterschrift bildnachweis paywall legend intext-links ' +
    'inline-teaser readmore read-more read-also more-links morelinks linkliste linklist author-details author-bio cta connect print d-print-block entry-title post-title headline pub-date publish-date slideshow carousel'
  ).split(' '),
)
/** Words that name who wrote a text, and what is said of them. */
const authors = new Set('author authors autor autoren auteur autore'.split(' '))
const longestAuthor = 700
/** A figure with more text than this, or with one that is set in blocks, is no picture with its caption. */
const longestFigure = 400
const setInBlocks = 'table, pre, blockquote, p ~ p, h2, h3'
/** A teaser without links, from this length on, is the lead of its own page. */
const leastTeaser = 100
const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden/i
const maxChecked = 20_000

/** Takes what frames a page out of it. What holds most of its text stays, whatever it is called. */
export const dropBoilerplate = (body: PageElement): void => {
  const most = body.textContent.length * 0.5
  for (const element of [...body.querySelectorAll(frames)]) {
    if (isIn(element, body) && element.textContent.length < most) element.remove()
  }
  for (const figure of [...body.querySelectorAll('figure')])
    if (isIn(figure, body) && isPicture(figure)) figure.remove()
  for (const element of [...body.querySelectorAll('[class], [id], [style]')].slice(0, maxChecked)) {
    if (!isFrame(element) || !isIn(element, body)) continue
    if (element.textContent.length < most) element.remove()
  }
}

const isFrame = (element: PageElement): boolean => {
  if (['body', 'article', 'main', 'html', 'p', 'h1'].includes(element.localName)) return false
  if (hiddenStyle.test(element.getAttribute('style') ?? '')) return true
  const own = wordsOf(`${element.getAttribute('class') ?? ''} ${element.id}`)
  const found = own.filter((word) => words.has(word))
  if (found.length > 0) return !(found.every((word) => /^teasers?$/.test(word)) && isLead(element))
  return own.some((word) => authors.has(word)) && element.textContent.trim().length < longestAuthor
}

const isPicture = (figure: PageElement): boolean =>
  figure.textContent.trim().length < longestFigure && [...figure.querySelectorAll(setInBlocks)].length === 0

const isLead = (element: PageElement): boolean =>
  element.textContent.trim().length > leastTeaser && [...element.querySelectorAll('a')].length === 0

const wordsOf = (names: string): readonly string[] =>
  names
    .slice(0, 500)
    .split(/\s+/)
    .flatMap((name) => {
      const parts = name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()
      return [parts, ...parts.split(/[-_:]+/)]
    })

/** Takes out lists and paragraphs that are links and little else. */
export const dropLinkBlocks = (article: PageElement): void => {
  for (const block of [...article.querySelectorAll('ul, ol, p, div, section, table')]) {
    const length = block.textContent.trim().length
    if (length === 0 || length > 2_000 || !isIn(block, article)) continue
    const links = [...block.querySelectorAll('a')]
    if (links.length === 0) continue
    const linked = links.reduce((sum, link) => sum + link.textContent.trim().length, 0)
    if (linked / length > 0.85) block.remove()
  }
}
