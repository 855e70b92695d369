import type { PageElement } from './schema.ts'

/** Beginnings of boilerplate lines, in several languages. */
const beginnings: readonly RegExp[] = [
  // references to other pages
  /^(?:related (?:articles?|posts?|stories|content|topics)|read (?:more|also|next|on|full)\b|see also:|you (?:may|might) also|more (?:from|on|about) |recommended (?:for you|articles)|continue reading|(?:previous|next) (?:article|post|story)|(?:show|load|view|see) (?:more|all)\b|back to (?:top|the)\b|table of contents$)/iu,
  /^(?:auch (?:interessant|lesen|spannend|auf )|lesen sie (?:auch|mehr|hier|dazu)|mehr (?:zum thema|themen|dazu|lesen|informationen)|das (?:könnte|thema könnte) (?:sie|dich|euch) auch|weiterführende|weitere (?:informationen|infos|beiträge|artikel|themen|links|meldungen|nachrichten)|(?:zum )?weiterlesen|weiter zu|zum (?:thema|artikel):?|empfohlene|ähnliche (?:artikel|beiträge|themen)|siehe auch|passend dazu|(?:vorheriger|nächster) (?:artikel|beitrag)|zurück$|zurück zu|nach oben$|inhaltsverzeichnis$)/iu,
  /^(?:(?:lire|voir) (?:aussi|également|la suite|plus)|à (?:lire|voir)|sur le même (?:sujet|thème)|leggi (?:anche|tutto)|(?:lee|lea|leer|vea|ver|mire|mira) (?:también|más|además)|(?:lea|lee|vea|mire):|(?:te|le) pued[eo]n? interesar|te puede|leia (?:também|mais)|veja (?:também|mais)|(?:prze)?czytaj(?:cie)?\b|zobacz\b|dowiedz się|lees (?:ook|meer)|läs (?:också|mer))/iu,
  // categories and comments
  /^(?:this (?:entry|post) was posted|posted (?:in|by|on)\b|filed under|tagged (?:with|as)?|tags? ?:|topics ?:|categor(?:y|ies) ?:|schlag(?:wort|wörter|worte)|stich(?:wort|wörter|worte)\b|themen ?:|kategorien?:|étiquettes|mots-clés|etiquetas|tagi ?:)/iu,
  /^(?:comments? (?:are )?(?:closed|off)|kommentare? (?:sind )?geschlossen|leave a (?:comment|reply)|schreibe einen kommentar|laisser un commentaire|\d+ (?:comments?|kommentare?|commentaires?|comentarios?|komentarz[ey]?)\b|(?:sie sind|du bist) (?:aktuell |derzeit )?nicht (?:ein|an)ge|(?:jetzt )?bewerten|valora esta)/iu,
  // prompts to share, follow and subscribe, and advertisements
  /^(?:anzeige(?:$|[:,]| [-–—*])|advertisement|werbung(?:$|[:.,])|sponsored|publicité|publicidad|reklama|(?:enthält |ein )?affiliate|externer inhalt)/iu,
  /^(?:share (?:this|on|via)\b|(?:teilen|share|compartir|condividi|partager|drucken|print|merken|drukuj|udostępnij)$|(?:artikel|beitrag|seite) (?:teilen|drucken|empfehlen)|teilen (?:auf|mit|sie)|follow (?:us|me|the)\b|like us|join our|download (?:the|our) .{0,30}\bapps?\b|folgen sie uns|folge? uns|síguenos|suivez-nous|seguici|polub nas)/iu,
  /^(?:sign up (?:for|to)|subscribe (?:to|now)|never miss|get the latest|jetzt (?:abonnieren|anmelden|lesen|bestellen)|newsletter|suscr[ií]b|abonnez-vous|inscrivez-vous|iscriviti|hazte |únete|werden sie mitglied)/iu,
  // copyright, dates, sources and people
  /^(?:©|copyright\b|\(c\) ?\d{4}|all rights reserved|alle (?:rechte vorbehalten|angaben ohne))/iu,
  /^(?:(?:last )?(?:modified|updated)(?: on)?\b|letzte (?:änderung|aktualisierung)|(?:zuletzt )?(?:geändert|aktualisiert)|veröffentlich(?:t|ung)(?: am| von|:)|publi(?:kacja|cado|é le|cato)|opublikowano|first published|originally published|published (?:on|in|by)|beitragsbild|titelbild|originalartikel|zusatzinformationen)/iu,
  /^(?:photos?|images?|pictures?|credits?|sources?|fotos?|bild(?:er|quelle|quellen|nachweis)?|abbildung(?: \d+)?|abb\. ?\d*|quellen?(?:angaben?)?|fuentes?|fonte|źródło|fot\.|crédits?|autor(?:en|in)?|authors?|about the author|über de[nr] autor|(?:presse)?kontakt|contact|ansprechpartner(?:in)?(?: .{0,20})?|redaktion) ?(?::|$)/iu,
]

/** Phrases of longer notices on copyright and editorial responsibility. */
const noted =
  /all rights reserved|alle rechte vorbehalten|wszelkie prawa zastrzeżone|derechos reservados|tous droits réservés|written permission|is (?:the )?copyrighted|urheberrechtlich geschützt|gibt die meinung de[sr] autor|do not necessarily (?:reflect|represent)/iu

/** Ends of captions that credit a picture. */
const credited =
  /(?:©|\(c\)|\bphoto ?:|\bphoto by|\bfotos? ?:|\bbild ?:|getty images|shutterstock|pixabay|unsplash|imago)[^.!?]{0,60}$/iu

/** Characters that may precede the text of a line. */
const signs = /^[*\-–—→»>•|([….\s]+/u
/** Maximum lengths in characters. */
const longest = { line: 160, caption: 250, credit: 100, note: 320 } as const
const maxChecked = 20_000

/** Whether the text of a block is boilerplate: a reference, a notice or a prompt. */
export const isFramingLine = (text: string): boolean => {
  if (text.length > longest.note) return false
  if (noted.test(text)) return true
  if (text.length < longest.caption && credited.test(text.slice(-longest.credit))) return true
  if (text.length > longest.line) return false
  const line = text.replace(signs, '')
  return beginnings.some((beginning) => beginning.test(line))
}

/** Removes short boilerplate blocks. */
export const dropFramingLines = (article: PageElement): void => {
  const blocks = [...article.querySelectorAll('p, li, h2, h3, h4, h5, h6, div, span, small, strong')]
  for (const block of blocks.slice(0, maxChecked)) {
    const text = block.textContent.trim()
    if (text === '' || !isFramingLine(text) || !isIn(block, article)) continue
    const above = block.parentElement
    const isInline = /^(?:span|small|strong)$/.test(block.localName)
    // inline elements within longer text are part of a sentence
    if (isInline && above !== null && above !== article && above.textContent.trim().length > longest.line) continue
    block.remove()
  }
}

/** Whether an element is still in the tree, and has not been removed with an ancestor. */
export const isIn = (element: PageElement, body: PageElement): boolean => {
  let at: PageElement | null = element
  for (let steps = 0; at !== null && steps < 200; steps += 1) {
    if (at === body) return true
    at = at.parentElement
  }
  return false
}
