// Package tui is the explorer: a terminal program that shows what one or several
// informers are doing. It knows them through package inspect only.
//
//	inspect.Inspector ◀── Wait, then read ── pull (a command, off the loop)
//	                                           │ frameMsg: one value of everything in sight
//	keys, mouse ─▶ Keymap ─▶ Action ───┐       │
//	:line ───────▶ commands ───────────┴─▶ Model ─▶ Controls, Opener (commands, off the loop)
//	                                         │ compose, once per change
//	                                         ▼
//	                                       View: a string
//
// Guarantees:
//
//   - If an informer changes a million times a second, then it is read and drawn
//     thirty times: the pull of the next frame waits for news first and for its
//     turn second. If nothing changes, it is read once a second, so that ages
//     move and a stuck watch is seen to age.
//   - If the user moves, then what has to be read for it is read at once, in
//     place of what was being waited for.
//   - If something was drawn, then it is written within 2 ms. If nothing happens,
//     then next to nothing wakes: see pulse.
//   - If something may wait, then it does so in a command: Update and View only
//     copy and draw.
//   - If a line that was typed is wrong, then nothing is done, and it stays with
//     what is wrong with it. If something else is to be opened, then what is
//     looked at stays until that is there.
//   - If there is room for the selected object beside the rows, then it is read
//     after them: moving never waits for it, and meanwhile none is shown rather
//     than another.
//   - If an object has two megabytes, then it is laid out once a version, off the
//     loop, and only the lines in sight are drawn.
//   - If a row leads to another screen, then one step back from there leads to
//     that row again; whoever goes by a screen's number has come from nowhere.
//   - If rows are sorted by what changes, then the selected one stands still and
//     the others move around it.
//   - If text comes from an object, an error or a server, then it has no control
//     characters when it reaches the terminal, nothing in it hides or reorders
//     what is beside it, and its width is known: everything drawn goes through
//     clean.
//   - If the terminal has 16 colours or none, or cannot draw more than ASCII, then
//     the screens say the same.
//   - If the terminal has any size, then every line is exactly as wide as it and
//     there are exactly as many lines as it has rows.
//
// Ages and countdowns count from the moment a frame was read, by the informer's
// clock; nothing that draws asks for the time.
//
// A frame of 200 columns and 60 rows costs less than a millisecond: lists read
// and draw only the rows in sight, and styles are escape sequences made once.
package tui
