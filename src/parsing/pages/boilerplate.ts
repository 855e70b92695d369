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
    'author-details author-bio cta connect print d-print-block entry-title post-title headline pub-date publish-date slideshow carousel'
  ).split(' '),
)
const hiddenStyle = /display\s*:\s*none|visibility\s*:\s*hidden/i
const maxChecked = 20_000

/** Takes what frames a page out of it. What holds most of its text stays, whatever it is called. */
export const dropBoilerplate = (body: PageElement): void => {
  const most = body.textContent.length * 0.5
  for (const element of [...body.querySelectorAll(frames)]) {
    if (isIn(element, body) && element.textContent.length < most) element.remove()
  }
  for (const element of [...body.querySelectorAll('[class], [id], [style]')].slice(0, maxChecked)) {
    if (!isFrame(element) || !isIn(element, body)) continue
    if (element.textContent.length < most) element.remove()
  }
}

const isFrame = (element: PageElement): boolean => {
  if (['body', 'article', 'main', 'html', 'p', 'h1'].includes(element.localName)) return false
  if (hiddenStyle.test(element.getAttribute('style') ?? '')) return true
  return wordsOf(`${element.getAttribute('class') ?? ''} ${element.id}`).some((word) => words.has(word))
}

const wordsOf = (names: string): readonly string[] =>
  names
    .slice(0, 500)
    .split(/\s+/)
    .flatMap((name) => {
      const parts = name.replace(/([a-z])([A-Z])/g, '$1-$2').toLowerCase()
      return [parts, ...parts.split(/[-_:]+/)]
    })

/** Whether an element has not gone with one around it. */
const isIn = (element: PageElement, body: PageElement): boolean => {
  let at: PageElement | null = element
  for (let steps = 0; at !== null && steps < 200; steps += 1) {
    if (at === body) return true
    at = at.parentElement
  }
  return false
}

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

/** How lines begin that frame a text in the languages of the web: hints to other pages, notes of the site, calls to subscribe. */
const framing = new RegExp(
  `^(?:${[
    'related (?:articles?|posts?|stories|content|topics)|read (?:more|also|next|on)\\b|see also:|you (?:may|might) also|more (?:from|on|about) |recommended (?:for you|articles)',
    'auch interessant|lesen sie (?:auch|mehr)|mehr zum thema|das (?:könnte|thema könnte) (?:sie|dich) auch|weiterführende (?:links?|informationen)|weiterlesen|zum thema:|empfohlene beiträge|ähnliche (?:artikel|beiträge)|siehe auch',
    'à lire aussi|lire aussi|lire la suite|sur le même (?:sujet|thème)|leggi anche|lee también|te puede interesar|leia (?:também|mais)|czytaj (?:też|także|więcej)|zobacz (?:też|także)|lees ook|läs (?:också|mer)',
    'this (?:entry|post) was posted|posted (?:in|by|on)\\b|filed under|tagged (?:with|as)?|tags?:|categor(?:y|ies):|schlagw(?:ort|örter|orte)|kategorien?:|étiquettes',
    'comments? (?:are )?(?:closed|off)|kommentare? (?:sind )?geschlossen|leave a (?:comment|reply)|schreibe einen kommentar|laisser un commentaire',
    'anzeige:?$|advertisement|werbung:?$|sponsored|publicité|share (?:this|on|via)\\b|teilen (?:auf|mit|sie)|follow us|folgen sie uns',
    'sign up (?:for|to)|subscribe (?:to|now)|never miss|get the latest|jetzt (?:abonnieren|anmelden)|newsletter',
    '(?:©|copyright\\b|\\(c\\) ?\\d{4}|all rights reserved|alle rechte vorbehalten)',
    'last (?:modified|updated)|letzte (?:änderung|aktualisierung)|zuletzt (?:geändert|aktualisiert)|beitragsbild|titelbild',
  ].join('|')})`,
  'iu',
)
const longestFraming = 160

/** Takes out short blocks that say what stands beside a text, and none of it. */
export const dropFramingLines = (article: PageElement): void => {
  for (const block of [...article.querySelectorAll('p, li, h2, h3, h4, h5, h6, div, span, small, strong')].slice(
    0,
    maxChecked,
  )) {
    const text = block.textContent.trim()
    if (text.length > longestFraming || text === '' || !framing.test(text) || !isIn(block, article)) continue
    const above = block.parentElement
    // a word within a sentence is none
    if (
      above !== null &&
      above !== article &&
      /^(?:span|small|strong)$/.test(block.localName) &&
      above.textContent.trim().length > longestFraming
    )
      continue
    block.remove()
  }
}
