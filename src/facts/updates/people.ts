/** Words for people other than the user, as the subject or owner of a statement; longer ones come before what they begin with. */
const words =
  'mother-in-law|father-in-law|sister-in-law|brother-in-law|in-laws|parents|kids|children|twins|mother|mum|mom|mam|dad|father|sister|brother|son|daughter|wife|husband|partner|girlfriend|boyfriend|uncle|aunt|auntie|grandad|grandpa|grandfather|grandma|grandmother|granny|gran|nan|cousin|niece|nephew|colleague|co-?worker|boss|manager|friend|neighbou?r|roommate|flatmate|landlord|godmother|supervisor|reader|cat|dog|' +
  'kater|katze|hund|mutter|vater|mama|schwester|schwager|schwägerin|bruder|sohn|tochter|frau|mann|oma|opa|onkel|tante|eltern|kinder|freund(?:in)?|kolleg(?:e|in)|nachbar(?:in)?|' +
  'madre|padre|hermana|hermano|hija|hijo|hijos|mujer|marido|abuela|abuelo|tía|tío|padres|suegra|suegro|cuñad[oa]|prim[oa]|vecin[oa]|amig[oa]|' +
  'belle-mère|beau-père|belle-sœur|beau-frère|mère|père|sœur|soeur|frère|fils|fille|femme|mari|mamie|papi|tante|oncle|parents|enfants|petit dernier|petite dernière|cousine?|voisine?|ami[e]?|collègue|' +
  'mãe|pai|irmã|irmão|filha|filho|mulher|esposa|marido|avó|avô|sogra|sogro|cunhad[oa]|tia|tio|vizinh[oa]|' +
  'sorella|fratello|figlia|figlio|moglie|marito|nonna|nonno|mamma|papà|' +
  'мама|папа|мать|отец|сестра|брат|сын|дочь|жена|муж|тётя|дядя|бабушка|дедушка|свекровь|тёща|друг|подруга|коллега|мужа|жены|брата|сестры|мамы|папы|' +
  'पिता|माँ|भाई|बहन|बेटा|बेटी|पत्नी|पति|दादी|नानी'

const unspaced =
  '岳母|岳父|婆婆|公公|妈妈|我妈|爸爸|我爸|母亲|父亲|姐姐|妹妹|哥哥|弟弟|大女儿|小女儿|大儿子|小儿子|女儿|儿子|妻子|丈夫|老婆|老公|奶奶|爷爷|同事|義母|義父|長男|次男|三男|長女|次女|三女|末っ子|母|父|姉|妹|兄|弟|息子|娘|妻|夫|祖母|祖父|同僚'

/** Finds words for people in a text in lower case. */
export const people = new RegExp(`(?<![\\p{L}\\p{M}])(?:${words})(?![\\p{L}\\p{M}])|${unspaced}`, 'gu')

/** Finds the person who owns what a statement is about, in a text in lower case: "my husband's", "celle de mon mari". */
export const owners = new RegExp(
  `(?<!\\p{L})(?:my|our|the) (${words})['’]s?(?!\\p{L})` +
    `|(?:celui|celle|ceux|celles) (?:de (?:mon|ma|mes)|du|de la) (${words})(?!\\p{L})` +
    `|(?:das|der|die|den) (?:von|meine[rs]|unsere[rs]) (?:meine[rmn] |unsere[rmn] )?(${words})(?:s|es)?(?!\\p{L})` +
    `|(?:el|la|los|las) de (?:mis?|nuestr[oa]) (${words})(?!\\p{L})` +
    `|(?:^|[^\\p{L}])[oa] d[oa] (?:meu|minha|nosso|nossa) (${words})(?!\\p{L})` +
    `|(${unspaced})[の的]`,
  'u',
)

/** Same relation in other words. */
const same: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'mother mum mom mam mama',
    'father dad',
    'grandmother grandma granny gran nan',
    'grandfather grandpa grandad',
    'kids children',
    '妈妈 我妈 母亲',
    '爸爸 我爸 父亲',
    'муж мужа',
    'жена жены',
    'брат брата',
    'сестра сестры',
    'мама мамы мать',
    'папа папы отец',
    '妻子 老婆',
    '丈夫 老公',
  ].flatMap((line) => {
    const [first = '', ...others] = line.split(' ')
    return others.map((other) => [other, first])
  }),
)

/** Returns one word for each relation. */
export const relationOf = (word: string): string => same[word] ?? word
