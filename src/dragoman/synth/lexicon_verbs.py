"""Principal parts of irregular verbs in both languages, and the verb frames.

A frame is `verb ; subject ; complements ; english ; flags`, most frequent first; an indented line continues.

verb         infinitive, separable prefix before a bar, `+s` for a perfect with sein, `+h` with haben,
             a final 2 for the second verb of that name (hängen, hing)
subject      noun classes; `hum` is any person, `es` the pronoun
complements  `A=class/policy` accusative, `D=…` dative, `auf.A=…` prepositional object, `G=places` goal,
             `L=places` location, `R` and `RD` reflexive pronoun, `_a_b` fixed words, `~Noun.gender` a bare
             noun negated by kein
policies     d definite, i indefinite, s indefinite singular, n counted, p possessive of the subject,
             z no article, b bare plural, g German article only, m measure (a glass of); one of several is
             drawn, none is a mixture
english      patterns separated by ` / `; {A} {D} {P} {G} {L} are complements, {S} the German subject,
             {own} and {obj} agree with the subject
flags        aspect first: act (activity), evt (event), sta (state), swap (a state; the dative is the English
             subject); pas passive, imp imperative, neg and noneg can and cannot be negated, onlyneg always
             is, notime, attr the fixed words belong to the object, inv without intention, bad unwelcome,
             hob for pleasure, duty a duty or favour, hinder and help reasons against and for, big once in
             years, since may last until now (short: for hours), veh by train or car, ob asks, ing and objc
             for verbs with infinitives, loc= places, man= manners
"""

from __future__ import annotations

__all__ = ["ENGLISH_IRREGULAR", "FRAMES", "GERMAN_IRREGULAR"]

GERMAN_IRREGULAR = """
sein ist war gewesen s ; haben hat hatte gehabt ; werden wird wurde geworden s ; tun tut tat getan
wissen weiß wusste gewusst
können kann konnte gekonnt ; müssen muss musste gemusst ; wollen will wollte gewollt
sollen soll sollte gesollt
dürfen darf durfte gedurft ; mögen mag mochte gemocht ; lesen liest las gelesen
schreiben schreibt schrieb geschrieben
sehen sieht sah gesehen ; essen isst aß gegessen ; trinken trinkt trank getrunken
backen backt backte gebacken
schneiden schneidet schnitt geschnitten ; braten brät briet gebraten ; rufen ruft rief gerufen
helfen hilft half geholfen
geben gibt gab gegeben ; nehmen nimmt nahm genommen ; finden findet fand gefunden
verlieren verliert verlor verloren
gehen geht ging gegangen s ; kommen kommt kam gekommen s ; fahren fährt fuhr gefahren s
fliegen fliegt flog geflogen s
laufen läuft lief gelaufen s ; stehen steht stand gestanden ; sitzen sitzt saß gesessen
liegen liegt lag gelegen
schlafen schläft schlief geschlafen ; tragen trägt trug getragen ; waschen wäscht wusch gewaschen
ziehen zieht zog gezogen
schließen schließt schloss geschlossen ; werfen wirft warf geworfen ; heben hebt hob gehoben
leihen leiht lieh geliehen
bringen bringt brachte gebracht ; denken denkt dachte gedacht ; kennen kennt kannte gekannt
nennen nennt nannte genannt
rennen rennt rannte gerannt s ; sprechen spricht sprach gesprochen ; treffen trifft traf getroffen
laden lädt lud geladen
fallen fällt fiel gefallen s ; bleiben bleibt blieb geblieben s ; steigen steigt stieg gestiegen s
halten hält hielt gehalten
lassen lässt ließ gelassen ; schwimmen schwimmt schwamm geschwommen s ; singen singt sang gesungen
springen springt sprang gesprungen s
beginnen beginnt begann begonnen ; gewinnen gewinnt gewann gewonnen ; vergessen vergisst vergaß vergessen
empfehlen empfiehlt empfahl empfohlen ; schießen schießt schoss geschossen ; bieten bietet bot geboten
bitten bittet bat gebeten
streichen streicht strich gestrichen ; beißen beißt biss gebissen ; fangen fängt fing gefangen
brechen bricht brach gebrochen
treten tritt trat getreten s ; stehlen stiehlt stahl gestohlen ; wachsen wächst wuchs gewachsen s
schlagen schlägt schlug geschlagen
werben wirbt warb geworben ; raten rät riet geraten ; gießen gießt goss gegossen
streiten streitet stritt gestritten
scheinen scheint schien geschienen ; hängen hängt hängte gehängt ; reiten reitet ritt geritten s
bellen bellt bellte gebellt
gelingen gelingt gelang gelungen s ; steigen steigt stieg gestiegen s ; fressen frisst fraß gefressen
treiben treibt trieb getrieben ; hängen2 hängt hing gehangen
betreten betritt betrat betreten ; sterben stirbt starb gestorben s
unterhalten unterhält unterhielt unterhalten ; verstehen versteht verstand verstanden
melken melkt melkte gemolken
verlassen verlässt verließ verlassen ; gefallen gefällt gefiel gefallen
bereiten bereitet bereitete bereitet ; binden bindet band gebunden ; weisen weist wies gewiesen
scheiden scheidet schied geschieden ; heißen heißt hieß geheißen ; schreien schreit schrie geschrien
reißen reißt riss gerissen
"""

ENGLISH_IRREGULAR = """
read read read ; write wrote written ; see saw seen ; eat ate eaten ; drink drank drunk ; cut cut cut
help helped helped
give gave given ; take took taken ; find found found ; lose lost lost ; go went gone ; come came come
fly flew flown
run ran run ; stand stood stood ; sit sat sat ; sleep slept slept ; wear wore worn
get got got
throw threw thrown ; lend lent lent ; bring brought brought ; think thought thought ; know knew known
speak spoke spoken
meet met met ; fall fell fallen ; let let let ; swim swam swum ; sing sang sung
begin began begun
win won won ; forget forgot forgotten ; buy bought bought ; sell sold sold
build built built
draw drew drawn ; teach taught taught ; tell told told ; understand understood understood ; hear heard heard
feed fed fed ; have had had ; make made made ; leave left left ; put put put ; send sent sent
show showed shown
pay paid paid ; say said said ; ride rode ridden ; drive drove driven ; wake woke woken
dream dreamt dreamt ; feel felt felt
hang hung hung ; hide hid hidden ; break broke broken ; grow grew grown
do did done
keep kept kept ; hit hit hit ; bite bit bitten ; kick kicked kicked
set set set
catch caught caught ; ring rang rung
beat beat beaten
mow mowed mown ; lay laid laid
shut shut shut ; cast cast cast ; quit quit quit ; withdraw withdrew withdrawn ; mean meant meant
shine shone shone ; spread spread spread
"""

FRAMES = """
lesen ; hum ; A=text ; read {A} ; act pas imp loc=calm hob
kaufen ; hum ; A=buyfood/dim ; buy {A} ; evt imp loc=shop duty
kaufen ; hum ; A=buy,clothes,furniture/ddiin ; buy {A} / purchase {A} ; evt pas imp loc=store duty
essen ; hum ; A=eat/m ; eat {A} / have {A} ; act loc=meal
trinken ; hum ; A=drink/m ; drink {A} / have {A} ; act loc=meal
arbeiten ; hum ; L=job ; work {L} ; act man=hard,long since
arbeiten ; hum ; - ; work ; act loc=job,garden man=hard,long
an|rufen ; hum ; A=hum ; call {A} / phone {A} / ring {A} ; act imp duty
besuchen ; hum ; A=hum ; visit {A} / pay {A} a visit ; act duty
besuchen ; hum ; A=visit/d ; visit {A} ; evt
helfen ; hum ; D=hum ; help {D} / give {D} a hand / assist {D} ; act imp loc=garden,kitchen duty
suchen ; hum ; A=portable,clothes/pd ; look for {A} / search for {A} ; act
finden ; hum ; A=portable,clothes/pd ; find {A} / come across {A} ; evt loc=kitchen,nature inv
verlieren ; hum ; A=portable/p ; lose {A} ; evt loc=town,nature inv bad
warten ; hum ; auf.A=hum,public/d ; wait for {P} ; act imp loc=meet man=patient,long since short duty
gehen ; hum ; G=fun,town,school,work ; go {G} ; act
fahren ; hum ; G=holiday,region,city ; go {G} / travel {G} ; act veh
fahren ; hum ; G=town,work ; go {G} ; act veh
fahren+h ; hum ; A=drive/pd ; drive {A} ; act man=care,speed
fahren ; hum ; mit.D=drive/p G=work,town,city ; drive {G} in {P} ; act
fliegen ; hum ; G=region,city ; fly {G} ; act big
wohnen ; hum ; L=city,live,region ; live {L} ; sta since big
spielen ; hum ; A=game/z ; play {A} ; act loc=play man=well,long hob
spielen ; hum ; A=instrument/z ; play the {A} ; act man=well since hob
spielen ; kid ; mit.D=toy,pet ; play with {P} ; act loc=play man=happy,long
schreiben ; hum ; A=letter,opus ; write {A} ; act pas loc=calm
schreiben ; hum ; D=hum A=letter/i ; write {D} {A} / write {A} to {D} ; act duty
kochen ; hum ; A=cookable/i ; cook {A} / make {A} ; act loc=kitchen hob
kochen ; hum ; A=hot/m ; make {A} ; act imp loc=kitchen
kochen ; hum ; A=boil/d ; boil {A} ; act imp
machen ; hum ; A=photo/s von.D=building,animal,hum/d ; take {A} of {P} ; act imp
machen ; hum ; A=mistake/i ; make {A} ; act inv bad
machen ; learn ; _Hausaufgaben ; do {own} homework ; act loc=calm duty
an|machen ; hum ; A=onoff/d ; turn on {A} / switch on {A} / turn {A} on ; evt pas imp duty
aus|machen ; hum ; A=onoff/d ; turn off {A} / switch off {A} / turn {A} off ; evt pas imp duty
an|machen ; hum ; A=salad/d _mit_Öl_und_Essig ; dress {A} with oil and vinegar ; act imp
aus|machen ; hum ; A=appointment/s mit.D=med,firm,chief/d ; make {A} with {P} / arrange {A} with {P} ; evt
    imp duty
auf|machen ; hum ; A=open/d ; open {A} ; evt imp man=care duty
zu|machen ; hum ; A=window,door,open/d ; close {A} / shut {A} ; evt imp man=care duty
öffnen ; hum ; A=open/d ; open {A} ; evt pas imp man=care duty
reparieren ; hum ; A=repair/pd ; repair {A} / fix {A} / mend {A} ; act pas loc=craft duty
waschen ; hum ; A=wash,car,bicycle/pd ; wash {A} ; act pas duty
waschen ; hum ; RD _die_Hände ; wash {own} hands ; act imp man=thorough duty
putzen ; hum ; RD _die_Zähne ; brush {own} teeth / clean {own} teeth ; act imp man=thorough duty
putzen ; hum ; A=window,room,polish/dp ; clean {A} ; act pas imp man=thorough duty
auf|räumen ; hum ; A=clean/pd ; tidy up {A} / tidy {A} / clean up {A} ; act pas imp duty
streichen ; hum ; A=paint/d ; paint {A} ; act pas duty
malen ; hum ; A=portrait/s ; paint {A} ; act hob
bauen ; hum ; A=build/s ; build {A} / put up {A} ; act pas big
zeigen ; hum ; D=hum A=photo,portrait,room/dp ; show {D} {A} / show {A} to {D} ; evt imp duty
geben ; hum ; D=hum A=portable,text,key/pd ; give {D} {A} / give {A} to {D} ; evt imp duty
schenken ; hum ; D=rel A=present,bouquet/i ; give {D} {A} / give {D} {A} as a present ; evt
leihen ; hum ; D=hum A=car,bicycle,boat,book,tool/ps ; lend {D} {A} / lend {A} to {D} ; evt imp
schicken ; hum ; D=hum A=letter,parcel,photo/i ; send {D} {A} / send {A} to {D} ; evt imp duty
bringen ; waiter ; D=role A=drink,order/m ; bring {D} {A} ; act
bringen ; hum ; A=kid,parcel,own/dp G=school,station ; take {A} {G} ; act
holen ; hum ; A=tool,parcel,ladder/d ; get {A} / fetch {A} ; evt imp duty
ab|holen ; hum ; A=hum _vom_Bahnhof ; pick {A} up at the station / pick {A} up from the station ; act imp
    duty
ab|holen ; hum ; A=hum _vom_Flughafen ; pick {A} up at the airport / collect {A} from the airport ; act imp
    duty
mit|bringen ; hum ; D=hum A=present,bouquet/i ; bring {D} {A} ; evt imp duty
mit|nehmen ; hum ; A=portable,warm/p ; take {A} along / take {A} with {obj} ; evt imp duty
verkaufen ; hum ; A=own,furniture/p ; sell {A} ; evt pas big
ein|kaufen ; hum ; - ; do the shopping / go shopping ; act loc=shop hob duty
bezahlen ; hum ; A=bill/d ; pay {A} ; evt pas imp duty
bezahlen ; hum ; A=order,drink/d ; pay for {A} ; evt
bestellen ; hum ; A=order/m ; order {A} ; act loc=meet
probieren ; hum ; A=order,food/d ; try {A} / taste {A} ; evt imp
schneiden ; hum ; A=bake,veg,slice/d mit.D=knife/s ; cut {A} with {P} ; act imp
schneiden ; hum ; A=bake,veg,slice/d ; cut {A} ; act imp man=care duty
braten ; hum ; A=fry/i ; fry {A} ; act loc=kitchen
schälen ; hum ; A=peel/d ; peel {A} ; act imp man=care duty
backen ; hum ; A=bake/i ; bake {A} ; act loc=kitchen hob
füttern ; hum ; A=pet,farmanimal/pd ; feed {A} ; act imp duty
gießen ; hum ; A=flower/db ; water {A} ; act imp loc=garden duty
pflanzen ; hum ; A=grow/i ; plant {A} ; act pas loc=garden big
fällen ; gardening,farm ; A=cut/d ; cut down {A} / fell {A} ; evt pas
weg|werfen ; hum ; A=text,portable,clothes/dp ; throw away {A} / throw {A} away ; evt pas imp duty
auf|heben ; hum ; A=leaf,stick,feather,portable/d _vom_Boden ; pick {A} up off the floor / pick up {A} from
    the floor ; evt imp man=care
auf|heben ; hum ; A=letter,photo/d _als_Erinnerung ; keep {A} as a souvenir / keep {A} as a memento ; evt
auf|geben ; hum ; A=parcel/d _auf_der_Post ; post {A} / mail {A} at the post office ; evt imp duty
auf|geben ; hum ; _die_Hoffnung ; give up hope ; evt
auf|geben ; hum ; _das_Rauchen ; give up smoking / quit smoking ; evt big
ab|geben ; learn ; A=handin/pd ; hand in {A} / submit {A} ; evt man=early duty
zurück|geben ; hum ; D=hum A=book,portable,tool/d ; give {A} back to {D} / return {A} to {D} ; evt imp duty
an|probieren ; hum ; A=clothes/ds ; try on {A} ; act imp
an|ziehen ; hum ; A=warm,wash/ps ; put on {A} ; act imp
aus|ziehen ; hum ; A=warm,polish/p ; take off {A} ; act imp
tragen ; hum ; A=clothes/s ; wear {A} ; act
tragen ; hum ; A=carry/d G=home ; carry {A} {G} ; act imp man=care
ein|laden ; hum ; A=hum zu.D=party/pd ; invite {A} to {P} ; evt pas duty
ein|laden ; hum ; A=hum _zum_Essen ; invite {A} to dinner / invite {A} for dinner ; evt
treffen ; hum ; A=hum ; meet {A} ; act loc=meet
danken ; hum ; D=hum für.A=present,gift,letter/d ; thank {D} for {P} ; act man=happy
gratulieren ; hum ; D=hum _zum_Geburtstag ; wish {D} a happy birthday ; act
fragen ; hum ; A=cop,role _nach_dem_Weg ; ask {A} for directions / ask {A} the way ; evt
antworten ; hum ; auf.A=question,letter/dp ; answer {P} / reply to {P} ; act imp duty
stellen ; hum ; D=hum A=question/s ; ask {D} {A} ; act
denken ; hum ; an.A=hum,trip,exam/d ; think of {P} / think about {P} ; act
träumen ; hum ; von.D=trip,own/s ; dream of {P} / dream about {P} ; act
sprechen ; hum ; mit.D=hum ; speak to {P} / talk to {P} / talk with {P} ; act imp man=quiet,kind duty
sprechen ; hum ; A=language/z ; speak {A} ; sta man=well
sprechen ; hum ; über.A=topic,abstract,accident/d ; talk about {P} ; act
lachen ; hum ; über.A=story,mistake/d ; laugh at {P} / laugh about {P} ; act man=quiet
freuen ; hum ; R auf.A=trip,party,culture/dp ; look forward to {P} ; sta
freuen ; hum ; R über.A=gift,letter,bouquet/d ; be pleased about {P} / be happy about {P} ; sta
ärgern ; hum ; R über.A=annoying,bill/d ; be annoyed about {P} / be angry about {P} ; sta
interessieren ; hum ; R für.A=subject,politics,nature/g ; be interested in {P} ; sta
erinnern ; hum ; R an.A=hum,trip,story/pd ; remember {P} / recall {P} ; sta
erinnern ; hum ; A=hum an.A=appointment,exam,meeting/d ; remind {A} of {P} / remind {A} about {P} ; evt imp
kümmern ; hum ; R um.A=rel,kid,animal/pd ; take care of {P} / look after {P} ; act imp duty
beschweren ; hum ; R über.A=bill,hotfood,party/d ; complain about {P} / make a complaint about {P} ; act inv
verlassen ; hum ; R auf.A=hum ; rely on {P} / count on {P} ; sta
verlassen ; hum ; A=enter/d ; leave {A} ; evt man=early,secret
bewerben ; hum ; R um.A=job/ds ; apply for {P} ; evt big
gewöhnen ; hum ; R an.A=job,chief/d ; get used to {P} ; evt inv
auf|passen ; hum ; auf.A=kid,pet/d ; look after {P} / keep an eye on {P} ; act imp duty
brauchen ; hum ; A=wish/z ; need {A} ; sta
brauchen ; hum ; A=tool,ticket,drive,ride/s ; need {A} ; sta
wechseln ; hum ; A=banknote/s L=money ; change {A} {L} ; evt
vertrauen ; hum ; D=hum ; trust {D} / have faith in {D} ; sta
glauben ; hum ; D=hum ; believe {D} ; sta
gehören ; own,portable ; D=hum ; belong to {D} ; sta
kennen ; hum ; A=hum ; know {A} ; sta man=know since
kennen ; hum ; A=castle,story,song,recipe,book/d ; know {A} ; sta man=know
kennen|lernen ; hum ; A=hum _auf_einer_Party ; meet {A} at a party ; evt inv big
kennen|lernen ; hum ; A=hum _im_Urlaub ; meet {A} on holiday / get to know {A} on holiday ; evt inv big
vor|stellen ; hum ; D=hum A=rel/p ; introduce {A} to {D} ; evt
heiraten ; hum ; A=artist,med,teach/d ; marry {A} / get married to {A} ; evt one inv big
loben ; teach,chief ; A=learn/d ; praise {A} ; act pas
begleiten ; hum ; A=rel,role/p _nach_Hause ; walk {A} home / see {A} home ; act
untersuchen ; med ; A=ill,role/d ; examine {A} ; act pas man=thorough
verhaften ; cop ; A=crook/d ; arrest {A} ; evt pas loc=station
fangen ; cop ; A=crook/d ; catch {A} ; evt loc=station
auf|stehen+s ; hum ; - ; get up / get out of bed ; act imp man=early
ein|schlafen+s ; hum ; - ; fall asleep ; evt loc=tv man=early inv
auf|wachen+s ; hum ; - ; wake up ; evt man=early inv
schlafen ; hum ; - ; sleep ; act loc=sleep man=sleep,long
gehen ; hum ; _spazieren ; go for a walk / take a walk ; act loc=walk man=alone hob
schwimmen ; hum ; - ; swim ; act loc=swim man=well hob
wandern+s ; hum ; - ; hike / go hiking ; act loc=holiday hob
tanzen ; hum ; - ; dance ; act man=well,happy,long hob
singen ; hum ; A=song/i ; sing {A} ; act man=quiet hob
kommen ; hum ; G=city,athome ; come {G} ; evt man=early
zurück|kommen ; hum ; _aus_dem_Urlaub ; come back from holiday / return from holiday ; evt
zurück|kommen ; hum ; _von_der_Arbeit ; come back from work / get home from work ; evt man=early inv
an|kommen ; hum ; L=station,city ; arrive {L} ; evt man=early
ein|steigen ; hum ; in.A=public/d ; get on {P} ; evt imp man=speed
aus|steigen ; hum ; aus.D=public/d ; get off {P} ; evt man=care
um|steigen ; hum ; L=city ; change trains {L} ; evt
ziehen+s ; hum ; G=city,live,region ; move {G} ; evt big
ziehen ; hum ; A=carry/d _aus_dem_Wasser ; pull {A} out of the water ; evt
bleiben ; hum ; L=home,holiday,city ; stay {L} / remain {L} ; act man=alone
sitzen ; hum ; auf.D=benchsense,chair,sofa,armchair/d ; sit on {P} ; act loc=nature
sitzen ; hum ; L=calm ; sit {L} ; act man=alone,long
steigen ; hum ; auf.A=ladder/d ; climb {P} / climb up {P} ; evt man=care
fallen ; hum ; von.D=ladder,tree/d ; fall off {P} / fall from {P} ; evt inv bad
mieten ; hum ; A=rent,drive,boat/s ; rent {A} / hire {A} ; evt pas loc=city big
planen ; hum ; A=plan,trip,party/i ; plan {A} ; act
bestehen ; learn ; A=exam/d ; pass {A} ; evt
bestehen ; hum ; auf.D=answer/s ; insist on {P} ; sta
vor|bereiten ; learn ; R auf.A=exam/d ; prepare for {P} ; act man=thorough duty
lernen ; learn ; für.A=exam/d ; study for {P} / revise for {P} ; act loc=calm man=hard,long duty
lernen ; hum ; A=language/z ; learn {A} / study {A} ; act man=speed since
studieren ; student ; A=subject,univ/z L=city ; study {A} {L} ; act since
unterrichten ; teach ; A=subject/z ; teach {A} ; act loc=learn since
erklären ; teach,hum ; D=hum A=abstract,sentence/d ; explain {A} to {D} ; act imp man=patient duty
erzählen ; hum ; D=hum A=story/s ; tell {D} {A} ; act
vor|lesen ; rel ; D=kid A=story/s ; read {D} {A} / read {A} to {D} ; act
übersetzen ; hum ; A=text,sentence/d ; translate {A} ; act pas man=thorough duty
unterschreiben ; hum ; A=contract/d ; sign {A} ; evt pas imp duty
aus|füllen ; hum ; A=form/d ; fill in {A} / fill out {A} ; act pas imp man=thorough duty
verstehen ; hum ; A=abstract,text/d ; understand {A} ; sta
lösen ; hum ; A=solve/d ; solve {A} / work out {A} ; evt pas man=speed duty
vergessen ; hum ; A=portable,appointment/p ; forget {A} ; evt imp inv bad
verstecken ; hum ; A=portable/pd ; hide {A} ; evt loc=kitchen,home
benutzen ; hum ; A=gadget,tool/d ; use {A} / make use of {A} ; act
finden ; travel ; A=castle,visit/d _auf_der_Karte ; find {A} on the map ; evt
zeichnen ; teach,travel ; A=mapsense/s _von_Europa ; draw {A} of Europe ; act noneg attr
an|sehen ; hum ; RD A=show/di ; watch {A} ; act loc=tv hob
sehen ; hum ; A=animal,wild/i ; see {A} ; evt loc=nature inv
hören ; hum ; _Musik ; listen to music ; act loc=home
hören ; hum ; A=song,audiobook/ds ; listen to {A} ; act loc=home hob
hören ; hum ; _Radio ; listen to the radio ; act loc=kitchen hob
zu|hören ; hum ; D=hum ; listen to {D} ; act imp man=patient
fern|sehen ; hum ; - ; watch television / watch TV ; act man=long
beobachten ; hum ; A=wild/bd ; watch {A} ; act loc=nature man=still hob
treiben ; hum ; _Sport ; exercise / do sport ; act hob
rauchen ; hum ; - ; smoke / have a smoke ; act loc=nature
aus|gehen ; hum ; _mit_Freunden ; go out with friends ; act hob
teil|nehmen ; hum ; an.D=meeting,lesson/d ; take part in {P} / attend {P} ; act duty
verpassen ; hum ; A=public,meeting/d ; miss {A} ; evt inv bad
verdienen ; hum ; _viel_Geld ; earn a lot of money / make a lot of money ; sta
sparen ; hum ; _Geld für.A=own,trip/s ; save money for {P} / save up for {P} ; act
lüften ; hum ; A=room/d ; air {A} ; act imp duty
decken ; hum ; _den_Tisch ; set the table / lay the table ; act imp duty
ab|waschen ; hum ; _das_Geschirr ; do the dishes / wash the dishes ; act imp duty
mähen ; hum ; _den_Rasen ; mow the lawn / cut the grass ; act imp duty
melken ; farm ; A=cow/b ; milk {A} ; act
reiten ; hum ; _auf_einem_Pferd ; ride a horse ; act loc=nature man=well hob
fotografieren ; hum ; A=building,animal,castle/d ; photograph {A} / take pictures of {A} ; act hob
packen ; hum ; A=pack/p ; pack {A} ; act imp duty
"""
