"""Frames for words whose sense depends on their company, for things as subjects, for states, and idioms.

The notation is that of the verb frames.
"""

from __future__ import annotations

__all__ = [
    "ARRIVAL_FRAMES",
    "IDIOM_FRAMES",
    "MATRIX_FRAMES",
    "PROVERBS",
    "REPORT_FRAMES",
    "REQUEST_FRAMES",
    "SENSE_FRAMES",
    "STATE_FRAMES",
    "THING_FRAMES",
    "WEATHER_FRAMES",
]

SENSE_FRAMES = """
sitzen ; hum ; _im_Park auf.D=benchsense/ds ; sit on {P} in the park ; act
setzen ; hum ; R auf.A=benchsense/ds _im_Garten ; sit down on {P} in the garden ; evt imp
überweisen ; hum ; _Geld an.A=bankfirm/d ; transfer money to {P} ; evt
ab|heben ; hum ; _Geld L=money ; withdraw money {L} / take out money {L} ; act
eröffnen ; hum ; _ein_Konto L=money ; open an account {L} ; evt big
besichtigen ; hum ; A=castle,visit/d ; visit {A} / tour {A} ; evt pas
ölen ; hum ; A=lock/d _an_der_Tür ; oil {A} on the door ; evt imp noneg attr
knacken ; crook ; A=lock/d _am_Tor ; pick {A} on the gate ; evt noneg attr
aus|wechseln ; hum ; A=screw,lock/d ; change {A} / replace {A} ; evt imp
schrauben ; hum ; A=screw/ds _in_die_Lampe ; screw {A} into the lamp ; evt
an|ziehen ; craft ; A=nut/d _mit_dem_Schraubenschlüssel ; tighten {A} with the wrench / tighten {A} with the
    spanner ; act imp
zu|drehen ; hum ; A=tap/d ; turn off {A} ; evt imp
tropfen ; tap ; - ; drip ; act loc=kitchen
krähen ; rooster ; _bei_Sonnenaufgang ; crow at sunrise ; act notime
schießen ; player ; A=goal/n _im_Finale ; score {A} in the final ; evt
an|streichen ; hum ; A=gate/d ; paint {A} ; evt pas
ein|schenken ; hum ; D=role A=drink/m ; pour {D} {A} ; act imp
zu|decken ; parent ; A=kid/d mit.D=blanket/s ; cover {A} with {P} ; act
legen ; hum ; A=blanket/d _auf_das_Bett ; put {A} on the bed / lay {A} on the bed ; evt imp
hängen ; hum ; A=lamp/d _an_die_Decke ; hang {A} from the ceiling ; evt
starren ; hum ; _an_die_Decke ; stare at the ceiling ; act man=long noneg inv
zahlen ; hum ; A=tax/b ; pay {A} ; sta
erhöhen ; government ; A=tax/d ; raise {A} / increase {A} ; evt pas big
sitzen ; hum ; _am_Steuer ; be at the wheel / sit at the wheel ; sta
stehen ; hum ; _in_der_Schlange ; stand in the queue / wait in line ; act man=long,patient
treten ; hum ; _auf_eine_Schlange ; step on a snake ; evt loc=nature inv bad
schreiben ; hum ; A=paragraph/s _über_den_Krieg ; write {A} about the war ; act noneg attr
reparieren ; craft ; A=heel/d _am_Schuh ; repair {A} of the shoe / fix {A} of the shoe ; evt noneg attr
ab|geben ; hum ; A=vote/p _bei_der_Wahl ; cast {A} in the election ; evt
verlieren ; artist ; A=voice/p _nach_dem_Konzert ; lose {A} after the concert ; evt inv notime
gehen ; old ; _am_Stock ; walk with a stick / walk with a cane ; act
wohnen ; hum ; _im_dritten_Stock ; live on the third floor ; sta
wohnen ; hum ; _im_fünften_Stock ; live on the fifth floor ; sta
warten ; hum ; _am_Schalter ; wait at the counter ; act man=patient,long
drücken ; hum ; auf.A=switch/d ; press {P} ; evt imp
falten ; kid,hum ; A=sheet/s ; fold {A} ; act man=care
fallen ; leaf ; _vom_Baum ; fall from the tree ; evt
bekommen ; learn ; _eine_gute_Note _in_Mathematik ; get a good mark in maths / get a good grade in maths ;
    evt
an|legen ; med ; D=ill A=bandage/s ; put {A} on {D} / apply {A} to {D} ; evt man=care
ein|legen ; hum ; _den_ersten_Gang ; put the car in first gear / shift into first gear ; evt imp
warten ; hum ; _auf_dem_Gang ; wait in the corridor ; act man=patient,long
formen ; artist ; A=vase/s _aus_Ton ; shape {A} out of clay ; act
hören ; hum ; A=sound/s _aus_dem_Keller ; hear {A} from the cellar ; evt inv noneg attr
brechen ; hum ; RD _den_Kiefer ; break {own} jaw ; evt inv bad
brechen ; hum ; RD _das_Bein ; break {own} leg ; evt inv bad
brechen ; hum ; RD _den_Arm ; break {own} arm ; evt inv bad
spielen ; artist ; _auf_einem_alten_Flügel ; play an old grand piano ; act man=well
brechen ; bird ; RD _den_Flügel ; break a wing / break its wing ; evt inv
binden ; hum ; RD A=bow_tie/s ; tie {A} ; act
tanzen ; hum ; _auf_dem_Ball ; dance at the ball ; act man=long,happy
werfen ; kid ; D=sib A=ball/d ; throw {D} {A} / throw {A} to {D} ; act imp
schneiden ; hum ; _eine_Scheibe_Brot ; cut a slice of bread ; act imp
ein|werfen ; kid ; A=pane/s _mit_einem_Stein ; break {A} with a stone / smash {A} with a stone ; evt inv bad
ab|schließen ; hum ; A=door/d ; lock {A} ; evt pas imp
ab|schließen ; student ; _das_Studium ; finish {own} studies / complete {own} degree ; evt big
auf|nehmen ; artist ; A=song/in ; record {A} ; act pas
auf|nehmen ; hum ; A=cat/s _in_die_Familie ; take {A} into the family / adopt {A} ; evt
ein|stellen ; firm ; A=prof/s ; hire {A} / take on {A} ; evt pas big
ein|stellen ; hum ; A=clock/d ; set {A} / adjust {A} ; evt imp
halten ; chief,teach ; A=speech/s ; give {A} / make {A} ; act
halten ; public ; L=city,station ; stop {L} ; act
schlagen ; team ; A=opponent/d _mit_drei_zu_eins ; beat {A} three to one ; evt
gewinnen ; team ; A=match/d ; win {A} ; evt
treffen ; ball ; A=window/d ; hit {A} ; evt
ab|nehmen ; hum ; _fünf_Kilo ; lose five kilos ; evt inv big
ab|nehmen ; hum ; A=hat/p ; take off {A} ; evt imp
um|ziehen+s ; hum ; G=city ; move {G} ; evt big
um|ziehen ; hum ; R L=sleep ; get changed {L} / change clothes {L} ; act
leiten ; hum ; A=firm/ds ; run {A} / manage {A} ; sta
laufen ; show ; _im_Kino ; be on at the cinema ; sta
laufen ; sport ; _durch_den_Wald ; run through the forest ; act man=speed
bestehen ; book ; _aus_drei_Teilen ; consist of three parts ; sta
liegen ; portable ; _auf_dem_Tisch ; be on the table / be lying on the table ; sta
stehen ; bottle ; _im_Kühlschrank ; be in the fridge ; sta
hängen2 ; photo,portrait ; _an_der_Wand ; hang on the wall ; sta
stehen ; article ; _in_der_Zeitung ; be in the newspaper ; sta
verurteilen ; court,judge ; A=crook/d _zu_zwei_Jahren_Gefängnis ; sentence {A} to two years in prison ; evt
    pas
aus|sagen ; witness ; _vor_Gericht ; testify in court ; evt
bestreichen ; hum ; A=bread/d _mit_Butter ; spread butter on {A} ; act
spitzen ; pet ; _die_Ohren ; prick up its ears ; evt
"""

THING_FRAMES = """
ab|fahren ; public ; _von_Gleis_drei ; leave from platform three / depart from platform three ; act
ab|fahren ; public ; - ; leave / depart ; act man=early
an|kommen ; public ; L=station,city ; arrive {L} ; evt man=early
beginnen ; show,event ; _um_acht_Uhr ; begin at eight o 'clock / start at eight o 'clock ; sta notime
beginnen ; show,event ; _um_halb_neun ; begin at half past eight / start at half past eight ; sta notime
beginnen ; event ; _im_Mai ; begin in May / start in May ; sta notime
dauern ; film,meeting,lesson,talk ; _zwei_Stunden ; last two hours / take two hours ; sta
dauern ; film,meeting,lesson,talk ; _drei_Stunden ; last three hours / take three hours ; sta
dauern ; meeting,lesson,talk,film ; _eine_Stunde ; last an hour / take an hour ; sta
dauern ; trip ; _fünf_Tage ; last five days / take five days ; sta
gefallen ; film,building,clothes,gift,song ; D=hum ; {D} like {S} ; swap
schmecken ; order,food ; D=hum ; {D} like {S} / {D} enjoy {S} ; swap
fehlen ; rel ; D=hum ; {D} miss {S} ; swap
stehen ; clothes ; D=hum ; suit {D} / look good on {D} ; sta
passen ; clothes ; D=hum ; fit {D} ; sta man=well
funktionieren ; device ; - ; work ; sta man=well
stehen ; drive,ride ; _vor_dem_Haus ; be in front of the house / be parked in front of the house ; sta
stehen ; building ; _am_Ende_der_Straße ; stand at the end of the street ; sta
bellen ; dog ; - ; bark ; act man=quiet,long
schlafen ; pet ; _auf_dem_Sofa ; sleep on the sofa ; act man=sleep
schlafen ; pet ; _vor_dem_Ofen ; sleep in front of the stove ; act man=sleep
laufen ; animal ; _über_die_Straße ; run across the street ; evt man=speed
fressen ; farmanimal ; _Gras ; eat grass ; act loc=animals
fangen ; cat ; A=mouse/i ; catch {A} ; evt loc=garden
fliegen ; bird ; _über_das_Haus ; fly over the house ; evt
wachsen ; grow ; - ; grow ; act loc=garden,nature
blühen ; flower ; - ; bloom / be in bloom ; act loc=garden
statt|finden ; event ; L=city ; take place {L} ; evt big
ein|führen ; government ; A=rule/in ; introduce {A} ; evt pas big
suchen ; firm ; A=prof/s ; look for {A} ; act
gewinnen ; team ; A=match/d ; win {A} ; evt
verlieren ; team ; A=match/d ; lose {A} ; evt
verhaften ; police ; A=crook/d ; arrest {A} ; evt pas
suchen ; police ; nach.D=crook/d ; search for {P} / look for {P} ; act
"""

STATE_FRAMES = """
haben ; hum ; ~Zeit.f ; have time ; sta onlyneg hinder
haben ; hum ; ~Zeit.f ; have time ; sta help noneg
sein ; hum ; _müde ; be tired ; sta hinder
haben ; hum ; ~Hunger.m ; be hungry ; sta
sein ; hum ; _zu_Hause ; be at home ; sta neg
sein ; hum ; _krank ; be ill / be sick ; sta hinder
haben ; hum ; ~Durst.m ; be thirsty ; sta
haben ; hum ; ~Angst.f ; be afraid / be scared ; sta
haben ; hum ; _recht ; be right ; sta neg
haben ; hum ; ~Lust.f ; feel like it ; sta onlyneg hinder
haben ; hum ; ~Lust.f ; feel like it ; sta help noneg
haben ; hum ; _gute_Laune ; be in a good mood ; sta help
haben ; hum ; ~Glück.n ; be lucky ; sta
haben ; hum ; _Kopfschmerzen ; have a headache ; sta hinder
haben ; hum ; _nichts_Besseres_zu_tun ; have nothing better to do ; sta help
haben ; hum ; _eine_Erkältung ; have a cold ; sta hinder
haben ; hum ; _Fieber ; have a temperature / have a fever ; sta hinder
haben ; hum ; _die_Grippe ; have the flu / be down with the flu ; sta hinder
haben ; hum ; _einen_Kater _vom_vielen_Bier ; have a hangover from too much beer ; sta hinder
haben ; hum ; _viel_zu_tun ; have a lot to do / be busy ; sta hinder
haben ; hum ; _frei ; be off work / have the day off ; sta help
sein ; hum ; _im_Urlaub ; be on holiday ; sta neg help
haben ; hum ; _Geburtstag ; have {own} birthday ; sta
haben ; hum ; _Zahnschmerzen ; have toothache / have a toothache ; sta hinder
sein ; hum ; _in_Eile ; be in a hurry ; sta hinder
haben ; hum ; _es_eilig ; be in a hurry ; sta hinder
sein ; hum ; _pleite ; be broke ; sta hinder
sein ; hum ; _beschäftigt ; be busy ; sta hinder
sein ; hum ; _erkältet ; be down with a cold / have a cold ; sta hinder
sein ; hum ; _schlecht_gelaunt ; be in a bad mood ; sta hinder
"""

REPORT_FRAMES = """
sagen ; hum ; - ; say ; sta
glauben ; hum ; - ; think / believe ; sta
wissen ; hum ; - ; know ; sta
hoffen ; hum ; - ; hope ; sta
meinen ; hum ; - ; think ; sta
fragen ; hum ; R ; wonder ; sta ob
wissen ; hum ; - ; know ; sta ob onlyneg
erzählen ; hum ; D=hum ; tell {D} ; sta
vermuten ; hum ; - ; suppose / suspect ; sta
behaupten ; hum ; - ; claim ; sta
bezweifeln ; hum ; - ; doubt ; sta
"""

MATRIX_FRAMES = """
versuchen ; hum ; - ; try ; act duty evt
vergessen ; hum ; - ; forget ; evt inv duty
bitten ; hum ; A=hum ; ask {A} ; evt objc duty
vor|haben ; hum ; - ; plan / intend ; sta hob
an|fangen ; hum ; - ; start / begin ; evt hob
auf|hören ; hum ; - ; stop ; evt ing hob
beschließen ; hum ; - ; decide ; evt inv big duty
versprechen ; hum ; D=hum ; promise {D} ; evt inv duty
erlauben ; parent,teach,chief ; D=hum ; allow {D} ; evt objc hob
hoffen ; hum ; - ; hope ; sta big
empfehlen ; med,teach ; D=hum ; advise {D} ; evt objc hob
weigern ; hum ; R ; refuse ; evt inv duty
lernen ; kid,learn ; - ; learn ; act hob
helfen ; hum ; D=hum ; help {D} ; act objc duty
"""

REQUEST_FRAMES = """
versprechen ; hum ; _es ; promise to ; evt
versprechen ; hum ; D=rel _es ; promise {D} to ; evt
beschließen ; hum ; _es ; decide to ; evt
vor|nehmen ; hum ; RD _es ; mean to / plan to ; evt
"""

ARRIVAL_FRAMES = """
kommen ; hum ; G=athome ; come {G} / get {G} ; evt
an|kommen ; hum ; L=station ; arrive {L} ; evt
auf|wachen+s ; hum ; - ; wake up ; evt
an|rufen ; hum ; A=hum ; call {A} / phone {A} ; evt
betreten ; hum ; A=clean,enter/d ; enter {A} / walk into {A} ; evt
"""

WEATHER_FRAMES = """
regnen ; es ; - ; rain ; act man=rain hinder
sein ; es ; _sehr_kalt ; be very cold ; sta hinder
sein ; es ; _warm ; be warm ; sta help
schneien ; es ; - ; snow ; act hinder
scheinen ; sun ; - ; shine ; act help
sein ; es ; _schon_dunkel ; be already dark ; sta hinder
sein ; weather ; _schön ; be nice / be fine ; sta help
sein ; es ; _schon_spät ; be already late ; sta hinder
sein ; weather ; _schlecht ; be bad ; sta hinder
sein ; es ; _sehr_heiß ; be very hot ; sta hinder
regnen ; es ; _in_Strömen ; pour with rain / rain cats and dogs ; act hinder
"""

IDIOM_FRAMES = """
drücken ; hum ; D=hum _die_Daumen ; keep {own} fingers crossed for {D} ; act
nehmen ; hum ; A=hum _auf_den_Arm ; pull {A's} leg ; act
gehen+s ; rel,kid ; D=hum _auf_die_Nerven ; get on {D's} nerves ; act
treffen ; hum ; _den_Nagel_auf_den_Kopf ; hit the nail on the head ; evt
lassen ; hum ; _die_Katze_aus_dem_Sack ; let the cat out of the bag / spill the beans ; evt
sein ; hum ; _auf_dem_Holzweg ; be on the wrong track / be barking up the wrong tree ; sta
haben ; hum ; _die_Nase_voll ; be fed up / have had enough ; sta
haben ; hum ; _Tomaten_auf_den_Augen ; be completely blind / be blind as a bat ; sta
haben ; hum ; _Schwein ; be lucky / have a lucky break ; sta
treten ; hum ; _ins_Fettnäpfchen ; put {own} foot in it / put {own} foot in {own} mouth ; evt inv
machen ; hum ; _blau ; skip work / play truant ; act
fahren+s ; hum ; _schwarz ; travel without a ticket / dodge the fare ; act
beißen ; hum ; _ins_Gras ; bite the dust / kick the bucket ; evt inv
sitzen ; hum ; _auf_dem_Trockenen ; be left high and dry ; sta
fallen ; hum ; _aus_allen_Wolken ; be taken completely by surprise / be flabbergasted ; evt inv
verlieren ; hum ; _den_Faden ; lose {own} train of thought / lose the thread ; evt inv
stecken ; hum ; _in_der_Klemme ; be in a tight spot / be in a jam ; sta
geben ; hum ; D=hum _einen_Korb ; turn {D} down ; evt
auf|binden ; hum ; D=hum _einen_Bären ; tell {D} a tall story ; evt
bringen ; hum ; A=hum _auf_die_Palme ; drive {A} up the wall ; evt
legen ; hum ; D=rel _Steine_in_den_Weg ; put obstacles in {D's} way ; evt
kaufen ; hum ; _die_Katze_im_Sack ; buy a pig in a poke ; evt inv
haben ; hum ; _einen_Vogel ; be off {own} head / be crazy ; sta
schütteln ; hum ; _alles_aus_dem_Ärmel ; do everything off the cuff ; act
gehen ; hum ; _durch_dick_und_dünn ; go through thick and thin ; act
haben ; hum ; _alle_Hände_voll_zu_tun ; have {own} hands full / be very busy ; sta
leben ; hum ; _auf_großem_Fuß ; live in style / live the high life ; sta
"""

PROVERBS = """
Übung macht den Meister = practice makes perfect
der Apfel fällt nicht weit vom Stamm = the apple doesn 't fall far from the tree / like father , like son
Ende gut , alles gut = all 's well that ends well
aller Anfang ist schwer = every beginning is hard / the first step is always the hardest
Morgenstund hat Gold im Mund = the early bird catches the worm
wer zuletzt lacht , lacht am besten = he who laughs last laughs longest
Kleider machen Leute = clothes make the man
der Ton macht die Musik = it 's not what you say but how you say it
Liebe geht durch den Magen = the way to the heart is through the stomach
stille Wasser sind tief = still waters run deep
viele Köche verderben den Brei = too many cooks spoil the broth
Lügen haben kurze Beine = lies never get far / the truth will come out
Rom wurde nicht an einem Tag erbaut = Rome wasn 't built in a day
es ist nicht alles Gold , was glänzt = all that glitters is not gold
"""
