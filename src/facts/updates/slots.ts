import { topicWords } from './related.ts'
import type { Change } from './updates.ts'

/** A group of words that name one thing of a kind, in the languages that are read: `dentist`, `Zahnarzt`. */
type Members = Readonly<Record<string, Words>>

/** A pattern that is compiled at its first use: compiling all of them took 11 ms of each start. */
class Words {
  readonly source: string
  #pattern: RegExp | undefined

  constructor(source: string) {
    this.source = source
  }

  test(text: string): boolean {
    this.#pattern ??= new RegExp(this.source, 'u')
    return this.#pattern.test(text)
  }
}

/** Words of a text in scripts with spaces: whole, or a stem when it ends with `\p{L}*`. Others are found anywhere. */
const words = (spaced: string, unspaced = ''): Words =>
  new Words(`(?<!\\p{L})(?:${spaced})(?![\\p{L}\\p{M}])${unspaced === '' ? '' : `|${unspaced}`}`)

/** People by what they do for the user: each is a place of its own that is filled anew. */
const roles: Members = {
  eyes: words(
    'eye doctor|optician|optometrist|ophthalmolog\\p{L}*|augen(?:arzt|ärztin)|oculista|oftalm\\p{L}*|ophtalmo\\p{L}*|opticien\\p{L}*|окулист\\p{L}*|офтальмолог\\p{L}*',
    '眼科|眼医',
  ),
  teeth: words(
    'dentist|orthodontist|zahn(?:arzt|ärztin)|dentista|dentiste|стоматолог\\p{L}*|зубной',
    '歯医者|歯科|牙医',
  ),
  family: words(
    "gp|family doctor|(?<!eye )doctor(?! \\p{L}+'s)|haus(?:arzt|ärztin)|médico de cabecera|médecin traitant|médico de família|терапевт\\p{L}*",
    '主治医|家庭医生',
  ),
  women: words('gyn(?:a?ecolog|ä|é)\\p{L}*|frauen(?:arzt|ärztin)|ginec[oó]log\\p{L}*|гинеколог\\p{L}*', '婦人科|妇科'),
  children: words('pa?ediatrician|kinder(?:arzt|ärztin)|pediatra|pédiatre|педиатр\\p{L}*', '小児科|儿科'),
  skin: words(
    'dermatologist|haut(?:arzt|ärztin)|dermat[oó]log\\p{L}*|dermatolog\\p{L}*|дерматолог\\p{L}*',
    '皮膚科|皮肤科',
  ),
  body: words('physio\\p{L}*|osteopath\\p{L}*|fisio\\p{L}*|kiné\\p{L}*|массажист\\p{L}*'),
  mind: words(
    'therapist|psych(?:olog|iat)\\p{L}*|counsell?or|therapeut\\p{L}*|psic[oó]log\\p{L}*|психолог\\p{L}*',
    '心理医生|カウンセラー',
  ),
  animals: words(
    'vet|tier(?:arzt|ärztin)|veterinari\\p{L}*|vétérinaire|veterinári\\p{L}*|ветеринар\\p{L}*',
    '兽医|獣医',
  ),
  money: words(
    'accountant|tax adviser|steuerberater\\p{L}*|contable|gestor|comptable|contador\\p{L}*|бухгалтер\\p{L}*',
    '税理士|会计',
  ),
  law: words(
    'lawyer|solicitor|attorney|anw[aä]lt\\p{L}*|abogad[oa]|avocate?|advogad[oa]|адвокат\\p{L}*|юрист\\p{L}*',
    '弁護士|律师',
  ),
  hair: words(
    'hairdresser|barber|friseur\\p{L}*|peluquer[oa]|coiffeu\\p{L}*|cabeleireir[oa]|парикмахер\\p{L}*',
    '美容師|理发师',
  ),
  water: words('plumber|klempner\\p{L}*|fontaner[oa]|plombi\\p{L}*|encanador\\p{L}*|сантехник\\p{L}*', '水管工|配管工'),
  power: words(
    'electrician|elektriker\\p{L}*|electricista|électricien\\p{L}*|eletricista|электрик\\p{L}*',
    '电工|電気屋',
  ),
  boss: words('boss|(?:line )?manager|chef(?:in)?|jef[ea]|chefe|patronn?e?|начальни\\p{L}*', '上司|老板'),
  intern: words(
    'intern|trainee|praktikant\\p{L}*|becari[oa]|stagiaire|estagiári[oa]|стажёр\\p{L}*',
    '实习生|インターン',
  ),
  teacher: words('teacher|tutor|lehrer\\p{L}*|profesora?|professeure?|prof|professora?|учител\\p{L}*', '老师|先生'),
  coach: words(
    'coach|personal trainer|trainer(?:in)?|entrenadora?|entraîneu\\p{L}*|treinadora?|тренер\\p{L}*',
    '教练|コーチ',
  ),
  cleaner: words('cleaner|putz\\p{L}+|limpiadora|femme de ménage|faxineira|уборщи\\p{L}*'),
  landlord: words(
    'landlord|landlady|vermieter\\p{L}*|caser[oa]|propriétaire de|senhorio|хозя(?:ин|йка) квартиры',
    '房东|大家さん',
  ),
}

/** Things of which a user has one of each kind, so that one is not replaced by another. */
const things: Members = {
  laptop: words(
    'laptop|computer|pc|macbook|portátil|ordenador|ordinateur|computador|ноутбук\\p{L}*|компьютер\\p{L}*',
    '电脑|パソコン',
  ),
  phone: words('phone|mobile|smartphone|handy|móvil|téléphone|telefone|celular|телефон\\p{L}*', '手机|スマホ|携帯'),
  watch: words('(?:a|new|my|smart) watch|smartwatch|armbanduhr|reloj|montre|relógio|часы', '手表|腕時計'),
  tablet: words('tablet|ipad|планшет\\p{L}*', '平板|タブレット'),
  kitchen: words(
    'blender|toaster|kettle|oven|fridge|dishwasher|washing machine|air fryer|kühlschrank|waschmaschine|mixer|lavadora|nevera|frigo|lave-linge|geladeira|холодильник|стиральная',
    '冰箱|冷蔵庫|洗濯機|洗衣机',
  ),
  television: words('tv|television|fernseher|tele|télé|televisão|телевизор\\p{L}*', '电视|テレビ'),
  passport: words(
    'passports?|reisep[aä]ss\\p{L}*|pasaportes?|passeports?|passaportes?|паспорт\\p{L}*',
    '护照|パスポート',
  ),
  visa: words('visas?|visum|visados?|vistos?|виз[аыу]', '签证|ビザ'),
  driving: words(
    'driving licen[cs]e|driver.s licen[cs]e|führerschein|carn[eé] de conducir|permis de conduire|carteira de motorista|carta de condução|водительск\\p{L}*',
    '驾照|免許',
  ),
  library: words(
    'library card|bibliotheksausweis|carné de la biblioteca|carte de bibliothèque|читательский',
    '図書館カード|借书证',
  ),
  membership: words('(?:gym|loyalty|membership|store) card|kundenkarte|carte de fidélité|tarjeta de socio'),
  travel: words(
    'railcard|bus pass|season ticket|bahncard|monatskarte|abono transporte|bilhete mensal|проездной',
    '定期券|交通卡',
  ),
  glasses: words('glasses|specs|contact lenses|brille|gafas|lunettes|óculos|очки', '眼镜|眼鏡|メガネ'),
}

/** What one may have or do several of: another one is no update, unless it is said to come instead. */
const kinds: Members = {
  tongue: words(
    'english|spanish|catalan|french|german|italian|portuguese|dutch|danish|swedish|norwegian|finnish|polish|czech|greek|turkish|russian|ukrainian|arabic|hebrew|hindi|japanese|chinese|mandarin|korean|welsh|irish|gaelic|basque|latin|englisch|spanisch|französisch|deutsch|italienisch|portugiesisch|polnisch|türkisch|russisch|inglés|español|catalán|francés|alemán|italiano|portugués|euskera|anglais|espagnol|catalan|français|allemand|italien|portugais|russe|inglês|espanhol|francês|alemão|английск\\p{L}*|испанск\\p{L}*|французск\\p{L}*|немецк\\p{L}*|итальянск\\p{L}*|китайск\\p{L}*',
    '英语|法语|德语|西班牙语|日语|韩语|粤语|英語|フランス語|ドイツ語|スペイン語|中国語|韓国語',
  ),
  sport: words(
    'tennis|squash|golf|football|soccer|rugby|cricket|hockey|basketball|volleyball|handball|netball|badminton|darts|chess|bowling|padel|pádel|swim\\p{L}*|run(?:s|ning)?|jog\\p{L}*|yoga|pilates|spin(?:ning)?|zumba|boxing|judo|karate|climb\\p{L}*|boulder\\p{L}*|ski\\p{L}*|surf\\p{L}*|row(?:s|ing)|danc(?:e|es|ing)|ballet|pottery|knitting|gardening|quiz|choir|fußball|schwimm\\p{L}*|lauf\\p{L}*|jogg\\p{L}*|klettern|turnen|tanzen|chor|töpfern|fútbol|natación|correr|baile|ajedrez|danse|natation|foot|course|poterie|théâtre|escalade|vélo|futebol|natação|corrida|dança|футбол\\p{L}*|теннис\\p{L}*|плавани\\p{L}*|бег\\p{L}*|йог[аиу]|танц\\p{L}*|шахмат\\p{L}*',
    '足球|篮球|网球|游泳|跑步|瑜伽|羽毛球|舞蹈|サッカー|野球|テニス|水泳|バレエ|ヨガ|ジョギング|ダンス|柔道|卓球',
  ),
  instrument: words(
    'piano|violin|viola|cello|guitar|drums?|flute|harp|trumpet|sax\\p{L}*|clarinet|ukulele|bass|organ|klavier|geige|gitarre|cello|flöte|schlagzeug|trompete|guitarra|violín|batería|flauta|guitare|violon|batterie|flûte|violão|violino|bateria|пианино|скрипк\\p{L}*|гитар\\p{L}*|флейт\\p{L}*|барабан\\p{L}*|सितार|तबला|गिटार',
    '钢琴|小提琴|吉他|ピアノ|バイオリン|ギター|ドラム|フルート',
  ),
  animal: words(
    'cats?|kitten|dogs?|puppy|rabbit|hamster|tortoise|parrot|budgie|horse|pony|guinea pig|katze|kater|hund|welpe|kaninchen|pferd|gat[oa]|perr[oa]|cachorr[oa]|caballo|chat(?:te|on)?|chien(?:ne)?|chiot|lapin|cheval|cão|coelho|кошк\\p{L}*|кот(?:а|ёнок)?|собак\\p{L}*|щенок|кролик',
    '猫|狗|犬|兔子|ウサギ',
  ),
  music: words(
    'jazz|techno|opera|metal|folk|indie|hip[- ]hop|rap|country|blues|classical|klassik|oper|salsa|ópera|rock',
    '爵士|摇滚|ジャズ|ロック',
  ),
}

let kindPatterns: readonly RegExp[] | undefined

/** What a statement is about: a statement about one of these does not update one about others. */
const topics: Members = {
  allergy: words(
    "allerg\\p{L}*|intoleran\\p{L}*|can't have|isn't allowed|not allowed|can't eat|coeliac|celiac|unverträglich\\p{L}*|darf kein\\p{L}*|verträgt|alérgic\\p{L}*|alergi\\p{L}*|no puede (?:comer|tomar)|no tolera|ne supporte pas|não pode (?:comer|tomar)|аллерги\\p{L}*|нельзя",
    '过敏|アレルギー|不耐',
  ),
  taste: words(
    "loves|love|likes|like|mad about|crazy about|fan of|can't stand|hates?|mag|liebt|liebe|encanta|gusta|adore|aime|adora|gosta|gosto|люб(?:ит|лю)|нравится",
    '喜欢|爱吃|好き',
  ),
  living: words(
    "live|lives|living|lived|rent|rents|rented|flat|apartment|studio|house|moved(?= (?:to|in|out|back|away|house))|settled in|wohn(?:e|t|en|ung)|umgezogen|gezogen|vivo|vive|vivimos|mudado|mudé|piso|habite|habitons|emménag\\p{L}*|déménag\\p{L}*|locataire|propriétaire d'une|appart\\p{L}*|moro|mora|mudei|mudou|apartamento|жив(?:у|ёт|ет|ём)|переехал\\p{L}*|снима(?:ю|ем)|квартир\\p{L}*|रहत[ािे]|रहती",
    '住|搬|引っ越',
  ),
  smoking: words(
    'smok\\p{L}*|cigar\\p{L}*|vap(?:e|ing)|days clean|rauch\\p{L}*|zigarett\\p{L}*|fum[oae]\\p{L}*|кур(?:ю|ить|ит|ил\\p{L}*)',
    '烟|タバコ|煙草',
  ),
  drinking: words(
    'alcohol|booze|drinking|sober|beer|wine|alkohol|bier|cerveza|vino|alcool|vin|cerveja|vinho|алкогол\\p{L}*|пью',
    '喝酒|戒酒|お酒|酒を',
  ),
  volunteering: words(
    'volunteer\\p{L}*|ehrenamt\\p{L}*|voluntari\\p{L}*|bénévol\\p{L}*|voluntári\\p{L}*|волонт\\p{L}*',
    '志愿|ボランティア',
  ),
  study: words('study|studying|studies|degree|studiere|estudio|étudie|estudo|учусь', '大学で|学んで|专业'),
}

/** Topics of which a user may state several things, each of which stays. */
const severalTopics: ReadonlySet<string> = new Set(['allergy', 'taste'])

/** Words that name such a topic, or say nothing of what is meant. */
const several =
  /^(?:allerg|intole|alérgi|alergi|аллерг|love|loves|like|likes|finish|cancel|stoppe|droppe|yester|found)/u

/** Facts of the past, which no later event changes. */
const lasting = words(
  'born|grew up|raised in|originally from|mother tongue|first language|native (?:language|speaker)|geboren|aufgewachsen|muttersprache|nac(?:í|ió)|crec(?:í|ió)|lengua materna|née?|grandi|langue maternelle|nasc(?:i|eu)|cresci|cresceu|língua materna|родил(?:ся|ась)|вырос(?:ла)?|родной язык|जन्म|मातृभाषा|(?:got caught|watched|went to|spent|saw|baked|cooked)(?= )',
  '出身|生まれ|母語|出生|长大|母语',
)

/** Says that something takes the place of what was before. */
const instead = words(
  'instead|rather than|switch\\p{L}*|swap\\p{L}*|traded|replac\\p{L}*|gone over|moved (?:it |the \\p{L}+ )?to|moved|changed|shifted|pushed|bumped|postponed|rescheduled|brought forward|no longer|not|statt|stattdessen|gewechselt|verlegt|verschoben|en vez|en lugar|cambi\\p{L}*|pas[ée] (?:al?|à)|au lieu|à la place|remplac\\p{L}*|déplac\\p{L}*|report\\p{L}*|em vez|troc\\p{L}*|adiad\\p{L}*|mudou para|вместо|смен\\p{L}*|перен[её]с\\p{L}*|переш[её]?л\\p{L}*|बदल\\p{L}*',
  '改|换|変|代わり|じゃなく|而不是|移',
)

/** Times and places at which something holds beside what holds at others. */
const occasions: readonly Members[] = [
  {
    mon: words('mon(?:day)?s?|montags?|lunes|lundis?|segundas?(?:-feira)?|понедельник\\p{L}*', '周一|月曜'),
    tue: words('tue(?:sday)?s?|dienstags?|martes|mardis?|terças?(?:-feira)?|вторник\\p{L}*', '周二|火曜'),
    wed: words('wed(?:nesday)?s?|mittwochs?|miércoles|mercredis?|quartas?(?:-feira)?|сред[ауы]м?', '周三|水曜'),
    thu: words('thu(?:rsday)?s?|donnerstags?|jueves|jeudis?|quintas?(?:-feira)?|четверг\\p{L}*', '周四|木曜'),
    fri: words('fri(?:day)?s?|freitags?|viernes|vendredis?|sextas?(?:-feira)?|пятниц\\p{L}*', '周五|金曜'),
    sat: words('sat(?:urday)?s?|samstags?|sábados?|samedis?|суббот\\p{L}*', '周六|土曜'),
    sun: words('sun(?:day)?s?|sonntags?|domingos?|dimanches?|воскресен\\p{L}*', '周日|日曜'),
    week: words('weekdays|werktags|en semaine|entre semana|будни\\p{L}*', '平日|工作日'),
    weekend: words('weekends?|wochenende|fin de semana|week-?end|fim de semana|выходн\\p{L}*', '周末|週末'),
  },
  {
    morning: words(
      '(?<!this )mornings?|breakfast|morgens|frühstück|(?:por|a) la mañana|desayun\\p{L}*|le matin|petit[- ]déj\\p{L}*|de manhã|café da manhã|утром|по утрам|завтрак\\p{L}*',
      '早上|早餐|朝',
    ),
    noon: words(
      'afternoons?|lunch|mittags|nachmittags|por la tarde|almuerzo|à midi|déjeuner|à tarde|almoço|обед\\p{L}*|днём',
      '下午|午饭|中午|昼',
    ),
    evening: words(
      'evenings?|nights|dinner|supper|abends|abendessen|por la noche|cena|ceno|le soir|dîner|à noite|jantar|вечер\\p{L}*|ужин\\p{L}*',
      '晚上|晚饭|夜',
    ),
  },
  {
    winter: words('winter|im winter|invierno|hiver|inverno|зимой', '冬'),
    spring: words('spring|frühling|primavera|printemps|весной', '春'),
    summer: words('summer|sommer|verano|été (?=je|on|nous)|l.été|verão|летом', '夏'),
    autumn: words('autumn|herbst|otoño|automne|outono|осенью', '秋'),
  },
]

/** Places at which one has things of their own. */
const places: Members = {
  work: words(
    '(?:at|for|my) (?:work|office)|im büro|bei der arbeit|en el trabajo|de la oficina|au (?:travail|bureau)|no trabalho|на работе',
    '公司的|会社の|会社では|仕事用',
  ),
  home: words('at home|zu hause|daheim|en casa|à la maison|em casa|дома', '家里的|家の|家では'),
}

/** A noun that says little without the word before it: the insurance of the car is not that of the home. */
const compound =
  /(?<!\p{L})(\p{L}{1,30})(?:['’]s)? (?:insurance|service|card|contract|account|subscription|membership|club|lessons?|class(?:es)?|course|appointment|meeting|box)(?!\p{L})/gu
const noModifier =
  /^(?:my|the|an?|our|his|her|their|new|old|this|that|next|last|first|and|in|of|to|on|at|for|with|by)$/u

const working = words(
  'work(?:s|ing)?(?: from| at)?|arbeite\\p{L}*|trabaj\\p{L}*|travaill\\p{L}*|trabalh\\p{L}*|работа\\p{L}*',
  '工作|働',
)

/**
 * Whether a statement may be an update of what an older one says: of the same thing, role or topic, and for the same time and
 * place. Both are in lower case. Where nothing is recognised it may.
 */
export const mayShareSlot = (newer: string, older: string, change: Change): boolean => {
  if (areDisjoint(membersOf(roles, newer), membersOf(roles, older))) return false
  if (areDisjoint(membersOf(things, newer), membersOf(things, older))) return false
  if (areDisjoint(modifiersOf(newer), modifiersOf(older))) return false
  const [ofNewer, ofOlder] = [membersOf(topics, newer), membersOf(topics, older)]
  if (areDisjoint(ofNewer, ofOlder)) return false
  if (change === 'correction') return true
  if (lasting.test(older)) return false
  if (change === 'end' || change === 'gain' || hasSubject(newer)) {
    const isNamed = [roles, things, topics].some((each) => haveCommon(membersOf(each, newer), membersOf(each, older)))
    if (!isNamed && !haveCommon(kindsIn(newer), kindsIn(older)) && !haveCommonWords(newer, older)) return false
    if (change === 'end') return true
  }
  if (instead.test(newer)) return true
  if (areDisjoint(kindsIn(newer), kindsIn(older))) return false
  const isOneOfSeveral = ofNewer.some((topic) => severalTopics.has(topic) && ofOlder.includes(topic))
  return !isOneOfSeveral || haveCommonWords(newer, older)
}

/** Whether statements hold at different times or places, so that neither replaces the other. Both are in lower case. */
export const areOtherOccasions = (newer: string, older: string): boolean =>
  !instead.test(newer) &&
  (occasions.some((times) => areDisjoint(membersOf(times, newer), membersOf(times, older))) ||
    areAtOtherPlaces(newer, older))

const areDisjoint = (one: readonly string[], other: readonly string[]): boolean =>
  one.length > 0 && other.length > 0 && !haveCommon(one, other)

const haveCommon = (one: readonly string[], other: readonly string[]): boolean =>
  one.some((each) => other.includes(each))

const areAtOtherPlaces = (newer: string, older: string): boolean =>
  !working.test(newer) && areDisjoint(membersOf(places, newer), membersOf(places, older))

const membersOf = (members: Members, text: string): readonly string[] =>
  Object.entries(members).flatMap(([id, pattern]) => (pattern.test(text) ? [id] : []))

/** Returns the beginnings of the words that name one of several: an inflected one is the same. */
const kindsIn = (text: string): readonly string[] => {
  kindPatterns ??= Object.values(kinds).map(({ source }) => new RegExp(source, 'gu'))
  return kindPatterns.flatMap((kind) => [...text.matchAll(kind)].map(([found]) => found.slice(0, 3)))
}

const modifiersOf = (text: string): readonly string[] =>
  [...text.matchAll(compound)].flatMap(([, modifier = '']) => (noModifier.test(modifier) ? [] : [modifier]))

const haveCommonWords = (one: string, other: string): boolean => haveCommon(contentOf(one), contentOf(other))

/** Returns the words that have a topic of their own, and the letters of scripts without spaces. */
const contentOf = (text: string): readonly string[] => {
  const signs = (text.match(/\p{sc=Han}|[\p{sc=Katakana}ー]{2,}/gu) ?? []).filter((sign) => !emptySigns.has(sign))
  const spaced = [...topicWords(text.normalize('NFC'))].filter((word) => !several.test(word))
  return [...spaced.map((word) => word.slice(0, 5)), ...signs]
}

const emptySigns: ReadonlySet<string> = new Set(
  '我你他她的了在是有不今天昨先週周去年月日最近一二三现上下每个个们这那很都也就要会到新始',
)

/** A statement that begins with what it is about, which is not the user: "The alarm code has changed". */
const subject =
  /^(?:my|our|the|mein|meine|unsere?|der|die|das|mi|mis|nuestr[oa]|el|la|los|las|mon|ma|mes|notre|le|les|[oa]s? (?:meus?|minhas?|noss[oa])|meu|minha|[oa]|мо[йяёи]|наша?|मेर[ािीे]) \p{L}|^(?:l['’]|我的)\p{L}/u
const markedSubject = /^(?!今|最近|もう|昨日|先週|先月|来週|今度|私|僕|俺|実|朝|昼|夜|春|夏|秋|冬|平日|週末).{1,10}は/u
const hasSubject = (text: string): boolean => subject.test(text) || markedSubject.test(text)
