/** A language with its own rules. In texts of other languages only whole words are matched. */
export type Language = 'en' | 'es' | 'pt' | 'fr' | 'it' | 'de' | 'nl' | 'tr' | 'ru' | 'ar' | 'hi'

/** Languages as a segment numbers them, from 1; 0 is none. Only ever appended to. */
export const segmentLanguages: readonly Language[] = ['en', 'es', 'pt', 'fr', 'it', 'de', 'nl', 'tr', 'ru', 'ar', 'hi']

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** Stop words by language; they also serve to detect the language of a text. */
const stopWords: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: words(`a about am an and any are as at be been being but by can could did do does doing for from had has have having
    he her hers him his how i if in into is it its me my of on or our ours she should so some such than that the their theirs
    them then there these they this those to too us was we were what when where which who whom whose why will with would you
    your yours s t d ll re ve m don didn doesn isn wasn`),
  es: words(`a al algo ante como con cual cuales cuando cuanta cuantas cuanto cuantos cuál cuáles cuándo cuánta cuántas
    cuánto cuántos cómo de del desde donde dónde e el ella ellas ellos en entre era eran es esa ese eso esta estaba este esto
    fue fueron ha había han hasta la las le les lo los más me mi muy no nos o para pero por porque que qué quien quién quiénes
    se ser si sin sobre son su sus también te tiene tu un una uno unos y ya yo`),
  pt: words(`a ao aos as até com como da das de dela dele do dos e é ela elas ele eles em entre era eram essa esse esta este
    está eu foi foram há isso isto já lhe mais mas me meu minha muito na não nas nem no nos nós num numa o onde os ou para pela
    pelo por qual quais quando quanto que quê quem se sem ser seu seus são só sua suas também te tem um uma você`),
  fr: words(`à au aux avec c ce ces cette comment d dans de des du elle elles en est et eu étaient était été il ils j je l la
    le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou où par pas pour qu quand que quel quelle
    quelles quels qui s sa se ses son sont sur t ta te tes toi ton tu un une vos votre vous y`),
  it: words(`a ad ai al alla alle allo anche c che chi ci come con cosa d da dai dal dalla dalle dei del della delle dello di
    dove e è ed era erano fu furono gli ha hanno i il in io l la le lei lo loro lui ma mi nei nel nella nelle non o per perché
    più qual quale quali quando quanti quanto quella quello questa questo se si sono su sua sue sui sul sulla suo te tra tu un
    una uno`),
  de: words(`ab aber als am an auch auf aus bei bin bis bist da damit dann das daß dass dem den denn der des dessen die dies
    diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es für gegen hat hatte hatten
    haben ich ihm ihn ihr ihre ihrem ihren ihrer im in ist ja kann mein meine mich mir mit nach nicht noch nur ob oder ohne
    sehr sein seine seinem seinen seiner sich sie sind so über um und uns unter viele vom von vor war waren warum was welche
    welchem welchen welcher welches wem wen wenn wer werden wessen wie wieviel wir wird wo wurde wurden zu zum zur zwischen`),
  nl: words(`aan als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe hun ik in is je kan maar me
    men met mijn naar niet nog nu of om onder ook op over te tot uit uw van veel voor waar waarom wanneer waren was wat we welk
    welke wel werd werden wie wij wordt ze zich zij zijn zo zou`),
  tr: words(`acaba ama ancak bana bazı ben bir biri biz bu buna bunu bunun da daha de diye en gibi hangi hangisi hem her hiç
    için ile ise kadar ki kim kimdi kimin mı mi mu mü nasıl ne neden nedir neler nerede nereye niçin o olan olarak oldu olduğu
    olduğunu ona onu onun sen şu tarafından tüm ve veya ya yani zaman`),
  ru: words(`а без был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть еще ещё же за и
    из или им их к как какая какие каких какова каков каким какими какого какое какой каком какую ко когда кто ли либо мне мой
    мы на над не него нее неё нет ни них но о об от по под при с со сколько так также такой там то того тоже только том ты у
    уже чем что чтобы чего чья чье чей эта эти этих это этого этой этом этот я`),
  ar: words(`في من إلى الى على عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين اين كيف كم هل هو هي هم كان كانت يكون تم
    قد لقد أن ان إن لا لم لن كل بعد قبل بين عند أو او ثم و أي اي أية لماذا حتى غير منذ حيث كما ليس بها به له لها`),
  hi: words(`का के की को में से है हैं था थे थी और यह वह ये वे इस उस इन उन ने पर एक भी तो ही कि जो क्या कौन कब कहाँ कहां कैसे क्यों
    कितना कितने कितनी किस किसने किसी कर करने करते करता करती किया किए गया गए गई हो होता होती होते हुआ हुई हुए रहा रही रहे लिए
    साथ द्वारा तक या अपने अपनी अपना नहीं था। जा जाता वाले वाली वाला कौनसा`),
}

const latin: readonly Language[] = ['en', 'es', 'pt', 'fr', 'it', 'de', 'nl', 'tr']
const others: readonly Language[] = ['ru', 'ar', 'hi']

/** The bit of a language in a mask of languages. */
export const stopBit: Readonly<Record<Language, number>> = {
  ...{ en: 1, es: 2, pt: 4, fr: 8, it: 16, de: 32, nl: 64, tr: 128 },
  ...{ ru: 256, ar: 512, hi: 1024 },
}

/** Returns the languages of which a lower-case word is a stop word, as a mask of `stopBit`. */
export const stopMask = (word: string): number => stoppedBy.get(word) ?? 0

const stoppedBy: ReadonlyMap<string, number> = [...latin, ...others].reduce((all, language) => {
  for (const word of stopWords[language]) all.set(word, (all.get(word) ?? 0) | stopBit[language])
  return all
}, new Map<string, number>())

/**
 * Detects the language of words in Latin script by its number of stop words; null when inconclusive. Other scripts
 * identify their language by themselves.
 *
 * @param tokens words, each with its `stopMask`.
 */
export function latinLanguageOf(tokens: readonly { readonly stops: number }[]): Language | null {
  found.fill(0)
  for (const { stops } of tokens) {
    for (let place = 0, left = stops & latinBits; left !== 0; place++, left >>= 1) {
      if ((left & 1) === 1) found[place] = (found[place] ?? 0) + 1
    }
  }
  let best: Language | null = null
  let max = 1
  for (let place = 0; place < latin.length; place++) {
    const count = found[place] ?? 0
    if (count > max) [best, max] = [latin[place] ?? null, count]
  }
  return best
}

/** Counts of one call, reused because allocating an array for each text took longer than counting. */
const found = new Uint16Array(latin.length)
const latinBits = 255
