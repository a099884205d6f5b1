# INK_OPTIONS: an option this configure does not know is an error, in one sentence that lists what
# it knows.  Autoconf alone only warns.  --disable-option-checking, which packagers use, turns it off.
# Stands before AC_INIT: the text runs before autoconf reads the arguments and gives its own messages.
AC_DEFUN([INK_OPTIONS], [m4_divert_text([PARSE_ARGS], [
ink_standard_options="--help --version --quiet --silent --no-create --no-recursion --config-cache --cache-file \
--srcdir --verbose --site --build --host --target --prefix --exec-prefix --bindir --sbindir --libexecdir \
--sysconfdir --sharedstatedir --localstatedir --runstatedir --libdir --includedir --oldincludedir \
--datarootdir --datadir --infodir --localedir --mandir --docdir --htmldir --dvidir --pdfdir --psdir \
--program-prefix --program-suffix --program-transform-name"
ink_own_options="--with-head=index|wide|locked --with-sanitizer=none|address|undefined|thread --enable-debug@<:@=paranoid@:>@"
ink_check_options=:
for ink_option
do
  test "x$ink_option" = x--disable-option-checking && ink_check_options=false
done
for ink_option
do
  $ink_check_options || break
  ink_known=false
  ink_name=`printf '%s\n' "$ink_option" | sed 's/=.*//'`
  case $ink_name in
  --) break ;;
  -@<:@hqnvVC@:>@) ink_known=: ;;
  --enable-* | --disable-* | --with-* | --without-*)
    ink_variable=`printf '%s\n' "$ink_name" |
      sed 's/^--disable-/enable_/; s/^--enable-/enable_/; s/^--without-/with_/; s/^--with-/with_/; s/@<:@-+.@:>@/_/g'`
    printf '%s' "$ac_user_opts" | grep "^$ink_variable\$" >/dev/null && ink_known=: ;;
  --*) # A standard option may be shortened.
    case " $ink_standard_options" in *" $ink_name"*) ink_known=: ;; esac ;;
  -*) case " $ink_standard_options" in *" -$ink_name"*) ink_known=: ;; esac ;;
  *) ink_known=: ;;
  esac
  $ink_known ||
    as_fn_error $? "unknown option $ink_name; the valid ones are $ink_own_options and the usual ones that --help lists."
done
])])
