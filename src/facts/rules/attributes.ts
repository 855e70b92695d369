/** A relation named by a noun, as in "my employer is …". */
export interface Attribute {
  readonly relation: string
  readonly single: boolean
}

/** Single-valued relations, with their nouns. */
const single: Readonly<Record<string, string>> = {
  works_at: 'employer,company,workplace,firm,place of work,current company,place of employment',
  occupation: 'job,job title,occupation,profession,role,position,title,line of work,work,day job,career,trade,post',
  lives_in:
    'city,home city,place of residence,residence,town,current city,home base,base,hometown now,location,home country',
  address: 'address,home address,street address,postal address,mailing address,billing address,shipping address',
  hometown: 'hometown,home town,birthplace,place of birth,native city,town of birth,city of birth',
  name: 'name,full name,first name,given name',
  last_name: 'last name,surname,family name',
  nickname: 'nickname,nick',
  pronouns: 'pronouns,preferred pronouns',
  age: 'age',
  birthday: 'birthday,birthdate,birth date,date of birth,bday',
  partner:
    'partner,wife,husband,spouse,fiancé,fiance,fiancée,fiancee,girlfriend,boyfriend,significant other,better half,other half,life partner',
  phone:
    'phone number,phone,number,mobile,mobile number,cell,cell phone,cell number,telephone,telephone number,cellphone,contact number,phone no',
  email: 'email,email address,e-mail,e-mail address,mail,mail address,email id,inbox',
  diet: 'diet,dietary preference,eating habit,eating style,way of eating',
  language: 'language,preferred language,native language,mother tongue,first language,native tongue,language of choice',
  timezone: 'timezone,time zone',
  car: 'car,vehicle,ride,wheels,automobile',
  doctor: 'doctor,gp,physician,family doctor,primary care doctor,general practitioner,primary care physician',
  dentist: 'dentist',
  therapist: 'therapist,psychologist',
  manager: 'manager,boss,supervisor,line manager,team lead,superior',
  studies_at: 'school,university,college,uni,alma mater,high school',
  studies: 'major,subject,field of study,degree,degree programme,course of study,field',
  nationality: 'nationality,citizenship',
  religion: 'religion,faith',
  blood_type: 'blood type,blood group',
  bank: 'bank',
  gym: 'gym,fitness studio',
  landlord: 'landlord,landlady',
  team: 'team,department',
  mother: 'mother,mum,mom,mama',
  father: 'father,dad,papa',
  salary: 'salary',
}

/** Multi-valued relations, with their nouns. */
const several: Readonly<Record<string, string>> = {
  hobby: 'hobby,hobbies,pastime,pastimes,interest,interests,passion,passions',
  allergic_to: 'allergy,allergies,food allergy,food allergies,allergens,allergen',
  skill: 'skill,skills,strength,strengths',
  goal: 'goal,goals,dream,dreams,ambition',
  sister: 'sister,sisters',
  brother: 'brother,brothers',
  daughter: 'daughter,daughters',
  son: 'son,sons',
  child: 'child,children,kid,kids,youngest,eldest,oldest,toddler,twins',
  relative: 'mother-in-law,father-in-law,sister-in-law,brother-in-law,stepson,stepdaughter,stepfather,stepmother',
  friend: 'friend,friends,best friend,buddy,mate,best friends,close friend,good friend',
  colleague: 'colleague,colleagues,coworker,coworkers,co-worker,co-workers,teammate,workmate',
  cousin: 'cousin,cousins',
  uncle: 'uncle',
  aunt: 'aunt',
  grandmother: 'grandmother,grandma,nana',
  grandfather: 'grandfather,grandpa',
  nephew: 'nephew',
  niece: 'niece',
  neighbour: 'neighbour,neighbor,neighbours,neighbors',
  roommate: 'roommate,flatmate,housemate,roommates,flatmates',
  pet: 'pet,pets,dog,dogs,cat,cats,puppy,kitten,rabbit,hamster,parrot,horse,goldfish,bird',
  speaks: 'languages',
  mentor: 'mentor',
  student: 'student,students,pupil',
  client: 'client,clients,customer',
}

const nouns = new Map<string, Attribute>()
for (const [relation, names] of Object.entries(single)) {
  for (const name of names.split(',')) nouns.set(name, { relation, single: true })
}
for (const [relation, names] of Object.entries(several)) {
  for (const name of names.split(',')) nouns.set(name, { relation, single: false })
}

const qualifiers: ReadonlySet<string> = new Set(
  'new current present actual old own personal private other only whole latest main primary usual regular younger older elder eldest youngest little big twin dear lovely beloved preferred'.split(
    ' ',
  ),
)

const favourites: ReadonlySet<string> = new Set(['favourite', 'favorite', 'fave', 'best-loved', 'go-to', 'all-time'])

/** Returns the attribute named by a noun phrase after "my"; null for an unknown one. */
export const attributeOf = (words: readonly string[]): Attribute | null => {
  const known = nouns.get(words.join(' '))
  if (known !== undefined) return known
  const [first = '', ...rest] = words
  if (rest.length === 0) return null
  if (favourites.has(first)) {
    const thing = rest.filter((word) => !favourites.has(word)).slice(0, 4)
    return thing.length === 0 ? null : { relation: `favourite_${thing.map(singular).join('_')}`, single: true }
  }
  return qualifiers.has(first) ? attributeOf(rest) : null
}

/** Whether the noun denotes a person or animal, which may be followed by a name. */
export const isBeing = ({ relation }: Attribute): boolean => beings.has(relation)

const beings: ReadonlySet<string> = new Set(
  'partner doctor dentist therapist manager landlord mother father sister brother daughter son child friend colleague cousin uncle aunt grandmother grandfather nephew niece neighbour roommate pet mentor student client'.split(
    ' ',
  ),
)

/** Converts to British spelling and the singular: "favorite colors" is the relation "favourite_colour". */
const singular = (word: string): string => {
  const one =
    word.length > 4 && word.endsWith('s') && !word.endsWith('ss') && word !== 'series' ? word.slice(0, -1) : word
  return one === 'color' ? 'colour' : one === 'movie' ? 'film' : one
}
