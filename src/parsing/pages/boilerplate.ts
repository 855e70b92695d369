import { isIn } from './framing-lines.ts'
import type { PageElement } from './schema.ts'

/** Selectors of boilerplate elements. */
const frames =
  'nav, aside, form, footer, dialog, figcaption, time, article article, [hidden], [aria-hidden="true"], [role="navigation"], [role="complementary"], [role="banner"], [role="contentinfo"], [role="search"], [role="dialog"], [role="alert"], [role="menu"]'

/** Words in the class or id of boilerplate elements. Only whole words match, so that `shared-content` does not. */
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
/** Words for author information. */
const authors = new Set('author authors autor autoren auteur autore'.split(' '))
const longestAuthor = 700
/**
 * Maximum text length of a figure that is removed as a picture with caption; one with block elements is kept as well.
 */
const longestFigure = 400
const setInBlocks = 'table, pre, blockquote, p ~ p, h2, h3'
/** Minimum length of a teaser without links that is the lead of its own page. */
const minTeaser = 100
const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden/i
const maxChecked = 20_000

/** Removes boilerplate from a page. An element with most of the page's text is kept, whatever its name. */
export const dropBoilerplate = (body: PageElement): void => {
  const max = body.textContent.length * 0.5
  for (const element of [...body.querySelectorAll(frames)]) {
    if (isIn(element, body) && element.textContent.length < max) element.remove()
  }
  for (const figure of [...body.querySelectorAll('figure')])
    if (isIn(figure, body) && isPicture(figure)) figure.remove()
  for (const element of [...body.querySelectorAll('[class], [id], [style]')].slice(0, maxChecked)) {
    if (!isFrame(element) || !isIn(element, body)) continue
    if (element.textContent.length < max) element.remove()
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
  element.textContent.trim().length > minTeaser && [...element.querySelectorAll('a')].length === 0

const wordsOf = (names: string): readonly string[] =>
  names
    .slice(0, 500)
    .split(/\s+/)
    .flatMap((name) => {
      const parts = name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()
      return [parts, ...parts.split(/[-_:]+/)]
    })

/** Removes lists and paragraphs that consist mostly of links. */
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
